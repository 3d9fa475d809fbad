"""Registers the PETSc plug-in sparsegpu with petsc4py: import it before or after petsc4py.init().

version: of the plug-in; build: a line about PETSc, number types and backends; library: its file, that of the environment's
SPARSEGPU_LIBRARY, else the one beside this module.
"""

import ctypes
import glob
import importlib.util
import os
import sys

library = os.environ.get("SPARSEGPU_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsparsegpu.so")

try:
    _plugin = ctypes.CDLL(library)  # brings the libpetsc that it was built for; calls to PETSc below go there
except OSError as error:
    raise ImportError(f"sparsegpu cannot load {library}: {error}") from error


def _check(code):
    if code:
        raise RuntimeError(f"sparsegpu: PETSc error {code}; its message is above")


def _petsc4py_extension():
    """The file of petsc4py's extension module, loaded or not, or None."""
    module = sys.modules.get("petsc4py.PETSc")
    if module is not None:
        return module.__file__
    if importlib.util.find_spec("petsc4py") is None:
        return None
    import petsc4py.lib

    where = petsc4py.lib.getPathArch(os.path.dirname(petsc4py.lib.__file__), None, "PETSC_ARCH", "petsc.cfg")
    files = glob.glob(os.path.join(*where, "PETSc.*.so"))
    return files[0] if files else None


def _same_petsc():
    """A plug-in of another libpetsc would register its types where petsc4py never sees them."""
    file = _petsc4py_extension()
    if file is None or not file.endswith(".so"):
        return
    addresses = [ctypes.cast(part.PetscInitialize, ctypes.c_void_p).value for part in (_plugin, ctypes.CDLL(file))]
    if addresses[0] != addresses[1]:
        raise ImportError(f"{library} was built for another PETSc than that of petsc4py ({file}): build it against that")


def _register():
    initialized = ctypes.c_int(0)
    _check(_plugin.PetscInitialized(ctypes.byref(initialized)))
    if initialized.value & 0xFF:  # PetscBool is an int or a bool
        _check(_plugin.SparseGPUInitializePackage())
    else:  # PetscInitialize() loads it; -dll_append stays free for others
        _check(_plugin.PetscOptionsSetValue(None, b"-dll_prepend", os.fsencode(library)))


def _versions():
    numbers = [ctypes.c_int() for _ in range(3)]
    text = ctypes.create_string_buffer(256)
    size = ctypes.c_size_t(len(text))
    _check(_plugin.SparseGPUGetVersion(*map(ctypes.byref, numbers), text, size))
    return ".".join(str(number.value) for number in numbers), text.value.decode()


_same_petsc()
_register()
version, build = _versions()
__version__ = version
