"""Builds the plug-in by CMake for the PETSc that petsc4py uses, and packs it into the module.

PETSC_DIR and PETSC_ARCH name another PETSc; CMAKE_ARGS are more words for CMake.
"""

import importlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
# In the sdist the sources of the plug-in lie in native; in a checkout they are two folders up.
NATIVE = HERE / "native" if (HERE / "native").is_dir() else HERE.parent.parent
PARTS = ["CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake", "src"]


def version():
    text = (NATIVE / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(sparsegpu VERSION ([0-9.]+)", text, re.MULTILINE).group(1)


def candidates():
    """PETSC_DIR and PETSC_ARCH: of the environment, else of petsc4py, else of the package petsc."""
    if os.environ.get("PETSC_DIR"):
        yield os.environ["PETSC_DIR"], os.environ.get("PETSC_ARCH", "")
        return
    for name in ("petsc4py", "petsc"):
        try:
            config = importlib.import_module(name).get_config()
        except ImportError:
            continue
        for arch in config.get("PETSC_ARCH", "").split(os.pathsep):
            yield config["PETSC_DIR"], arch


def petsc():
    looked = []
    for folder, arch in candidates():
        configs = Path(folder, arch, "lib", "pkgconfig")
        if (configs / "PETSc.pc").exists() or (configs / "petsc.pc").exists():
            return folder, arch
        looked.append(str(configs))
    raise SystemExit(
        f"No PETSc: {', '.join(looked) or 'neither PETSC_DIR nor petsc4py nor petsc was seen'} has no PETSc.pc. "
        "Install petsc4py first and use pip install --no-build-isolation, or set PETSC_DIR and PETSC_ARCH"
    )


class BuildWithPlugin(build_py):
    def run(self):
        super().run()
        folder, arch = petsc()
        work = Path(self.get_finalized_command("build").build_temp).resolve() / "plugin"
        configure = ["cmake", "-S", str(NATIVE), "-B", str(work), f"-DSPARSEGPU_PETSC_DIR={folder}"]
        configure += [f"-DSPARSEGPU_PETSC_ARCH={arch}", f"-DCMAKE_INSTALL_PREFIX={work / 'installed'}"]
        configure += ["-DCMAKE_INSTALL_LIBDIR=lib"]
        configure += ["-DSPARSEGPU_TESTS=OFF", "-DSPARSEGPU_EXAMPLES=OFF", "-DSPARSEGPU_BENCH=OFF"]
        subprocess.check_call(configure + shlex.split(os.environ.get("CMAKE_ARGS", "")))
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        subprocess.check_call(["cmake", "--build", str(work), "-j", jobs, "--target", "sparsegpu"])
        subprocess.check_call(["cmake", "--install", str(work)])
        shutil.copy(work / "installed" / "lib" / "libsparsegpu.so", Path(self.build_lib) / "sparsegpu")


class SourceWithPlugin(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for part in PARTS:
            source, target = NATIVE / part, Path(base_dir) / "native" / part
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]  # no extension of Python: ctypes


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=version(),
    packages=["sparsegpu"],
    distclass=Binary,
    cmdclass={"build_py": BuildWithPlugin, "sdist": SourceWithPlugin, "bdist_wheel": Wheel},
    zip_safe=False,
)
