"""The packages' versions, CMake options and dependencies are those of CMakeLists.txt.

  packaging.py SOURCE        (the checkout)

The Spack recipe is run with directives that only record: there need be no Spack.
"""

import re
import subprocess
import sys
import types
from pathlib import Path

top = Path(sys.argv[1])
if not (top / "packaging").is_dir():
    print("The sources are not here")
    sys.exit(25)
cmake = "".join((top / name).read_text() for name in ("CMakeLists.txt", "cmake/dependencies.cmake"))
version = re.search(r"project\(sparsegpu VERSION ([0-9.]+)", cmake).group(1)
short = version.rpartition(".")[0]
options = set(re.findall(r"^option\((SPARSEGPU_\w+) ", cmake, re.MULTILINE))
options |= set(re.findall(r'^set\((SPARSEGPU_\w+) "[^"]*"\s+CACHE ', cmake, re.MULTILINE))
options |= set(re.findall(r"^set\((SPARSEGPU_\w+) \w+ CACHE ", cmake, re.MULTILINE))
libraries = set(re.findall(r"^sparsegpu_ordering\((\w+) ", cmake, re.MULTILINE))
options |= {f"SPARSEGPU_{name}" for name in libraries}


def check_versions():
    release = re.search(r"^## ([0-9.]+)", (top / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
    assert release == version, f"CHANGELOG.md begins with {release}, CMakeLists.txt has {version}"
    debian = top / "packaging/debian"
    head = (debian / "changelog").read_text().split("\n", 1)[0]
    assert head.startswith(f"sparsegpu ({version}-"), f"packaging/debian/changelog: '{head}', not {version}"
    package = f"libsparsegpu{short}"
    assert f"\nPackage: {package}\n" in (debian / "control").read_text(), f"packaging/debian/control lacks {package}"
    symbols = (debian / f"{package}.symbols").read_text()
    assert symbols.startswith(f"libsparsegpu.so.{short} {package} "), symbols
    nodes = re.findall(r"^(SPARSEGPU_[0-9.]+) \{", (top / "cmake/sparsegpu.map").read_text(), re.MULTILINE)
    listed = re.findall(r"^ \(symver\)(\S+)", symbols, re.MULTILINE)
    assert nodes and nodes == listed, f"cmake/sparsegpu.map has {nodes}, {package}.symbols {listed}"
    needed = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake).group(1)
    control = (debian / "control").read_text()
    assert f"cmake (>= {needed})" in control, f"packaging/debian/control: not CMake {needed}"
    # What CMake uses where it is found must be there in each build of the package.
    orderings = {"AMD": "libsuitesparse-dev", "METIS": "libmetis-dev", "SCOTCH": "libscotch-dev"}
    assert libraries == set(orderings), libraries
    for package in orderings.values():
        assert f"\n {package}," in control, f"packaging/debian/control: Build-Depends has no {package}"


def check_options():
    assert len(options) >= 8, options
    for path in sorted((top / "packaging").rglob("*")):
        if not path.is_file() or path.suffix == ".pyc":
            continue
        for option in re.findall(r"(?:-D|define\(\")(SPARSEGPU_[A-Z_]+[A-Z])\b", path.read_text()):
            assert option in options, f"{path.relative_to(top)}: CMake has no option {option}, only {sorted(options)}"


def check_shell():
    """Nothing here can run a container: its commands are at least the shell's, and the scripts are."""
    text = (top / "packaging/Containerfile").read_text().replace("\\\n", " ")
    commands = re.findall(r"^RUN (.*)", text, re.MULTILINE)
    assert commands, "packaging/Containerfile has no RUN"
    for command in commands:
        subprocess.run(["sh", "-n", "-c", command], check=True)
    for script in re.findall(r"/usr/src/sparsegpu/(\S+[.]sh)", text):
        assert (top / script).is_file(), f"packaging/Containerfile runs {script}, which is not there"
    for script in [*sorted((top / "packaging").glob("*.sh")), top / "packaging/debian/tests/poisson"]:
        subprocess.run(["sh", "-n", str(script)], check=True)


class Spec(dict):
    """What cmake_args() asks of a concrete spec."""

    def __init__(self, *variants):
        super().__init__(petsc=types.SimpleNamespace(prefix="/petsc"))
        self.names = variants
        self.variants = {"cuda_arch": types.SimpleNamespace(value=("80", "90"))}

    def satisfies(self, variant):
        return variant in self.names


def recipe():
    """The recipe's class and what its directives were given."""
    calls = []
    directives = "version variant depends_on conflicts license".split()
    spack = {name: (lambda *args, _name=name, **kw: calls.append((_name, args, kw))) for name in directives}

    class CMakePackage:
        run_tests = False

        def define(self, name, value):
            return f"-D{name}={value}"

    class CudaPackage:
        cuda_arch_values = ("80", "90")

    module = types.ModuleType("spack.package")
    vars(module).update(spack, CMakePackage=CMakePackage, CudaPackage=CudaPackage)
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), module
    path = top / "packaging/spack/packages/sparsegpu/package.py"
    names = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["Sparsegpu"], calls


def check_spack():
    package, calls = recipe()
    assert Path(package.git[len("file://") :]).resolve() == top.resolve(), package.git
    depends = [args[0] for name, args, _ in calls if name == "depends_on"]
    needed = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake).group(1)
    oldest = re.search(r"PETSC_VERSION VERSION_LESS ([0-9.]+)\)", cmake).group(1)
    assert f"cmake@{needed}:" in depends, depends
    assert f"petsc@{oldest}:+mpi+shared" in depends, depends
    # Spack's recipe of PETSc has these variants and no others of ours: precision is +double or ~double there.
    petsc = {"mpi", "shared", "double", "complex", "int64", "cuda", "cuda_arch"}
    for spec in (spec for spec in depends if spec.startswith("petsc")):
        used = set(re.findall(r"[+~ ]([a-z_][a-z0-9_]*)", spec))
        assert used <= petsc, f"{spec}: PETSc has no variant {used - petsc}"
    found = {"c": "LANGUAGES C CXX", "cxx": "LANGUAGES C CXX", "cmake": "cmake_minimum_required"}
    found.update(pkgconfig="find_package(PkgConfig", mpi="find_package(MPI", petsc="pkg_search_module(PETSC")
    found.update(kokkos="find_package(Kokkos", cuda="find_package(CUDAToolkit")
    found.update({"metis": "METIS", "suite-sparse": "AMD", "scotch": "SCOTCH"})
    names = {re.match(r"[a-z0-9-]+", spec).group() for spec in depends}
    assert names == set(found), f"The recipe depends on {names}, CMake looks for {set(found)}"
    for name, call in found.items():
        assert call in cmake, f"CMakeLists.txt has no {call}, {name} is for nothing"
    variants = {args[0] for name, args, _ in calls if name == "variant"}
    for _, _, keywords in calls:
        for variant in re.findall(r"(?:^|[+~])([a-z_][a-z0-9_]*)", keywords.get("when", "")):
            assert variant in variants | {"cuda", "cuda_arch", "precision"}, f"{keywords}: no variant {variant}"

    plain = package()
    plain.spec = Spec("~cuda")
    assert "-DSPARSEGPU_CUDA=OFF" in plain.cmake_args() and "-DSPARSEGPU_PETSC_DIR=/petsc" in plain.cmake_args()
    assert not any("ARCHITECTURES" in argument for argument in plain.cmake_args())
    assert "-DSPARSEGPU_SCOTCH=False" in plain.cmake_args(), plain.cmake_args()
    gpu = package()
    gpu.spec = Spec("+cuda", "+scotch")
    assert "-DSPARSEGPU_SCOTCH=True" in gpu.cmake_args(), gpu.cmake_args()
    assert {"-DSPARSEGPU_CUDA=ON", "-DSPARSEGPU_CUDA_ARCHITECTURES=80;90"} <= set(gpu.cmake_args()), gpu.cmake_args()


check_versions()
check_options()
check_shell()
check_spack()
print(f"Packages of {version}: versions, options and the Spack recipe agree with CMakeLists.txt")
