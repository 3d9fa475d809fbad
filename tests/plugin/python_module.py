"""`import sparsegpu` registers the plug-in with petsc4py, whichever comes first, and prints nothing.

  python_module.py [VERSION]

SPARSEGPU_PYTHON: the folder that has the module sparsegpu (unset: an installed one). Each order runs in a process of
its own, with a Poisson problem whose iterations must be aij's.
"""

import os
import subprocess
import sys

FIRST = {
    "before init": "import sparsegpu, petsc4py; petsc4py.init(sys.argv)",
    "before PETSc": "import sparsegpu",
    "after init": "import petsc4py; petsc4py.init(sys.argv); import sparsegpu",
    "after PETSc": "from petsc4py import PETSc; import sparsegpu",
    "twice": "import sparsegpu, importlib; importlib.reload(sparsegpu)",
}
SOLVE = """
from petsc4py import PETSc
n = 30
iterations = {}
for kind in ("aij", "sparsegpu"):
    A = PETSc.Mat().create()
    A.setSizes((n * n, n * n))
    A.setType(kind)
    A.setPreallocationNNZ(5)
    for row in range(n * n):
        i, j = divmod(row, n)
        A[row, row] = 4.0
        for there, column in ((i > 0, row - n), (j > 0, row - 1), (j < n - 1, row + 1), (i < n - 1, row + n)):
            if there:
                A[row, column] = -1.0
    A.assemble()
    x, b = A.createVecs()
    x.set(1.0)
    A.mult(x, b)
    y = x.duplicate()
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-10)
    ksp.solve(b, y)
    y.axpy(-1.0, x)
    assert y.norm() < 1e-7 * x.norm(), y.norm()
    iterations[kind] = ksp.getIterationNumber()
assert A.getType() == "seqaijsparsegpu", A.getType()
assert iterations["aij"] == iterations["sparsegpu"] > 5, iterations
sys.stdout.write(sparsegpu.version + "\\n" + sparsegpu.build + "\\n")
"""


def run(code, **changes):
    environment = dict(os.environ, **changes)
    if os.environ.get("SPARSEGPU_PYTHON"):
        environment["PYTHONPATH"] = os.environ["SPARSEGPU_PYTHON"] + os.pathsep + os.environ.get("PYTHONPATH", "")
    return subprocess.run([sys.executable, "-c", "import sys\n" + code], capture_output=True, text=True, env=environment)


def main():
    if run("import petsc4py").returncode:
        print("petsc4py is not installed")
        sys.exit(25)
    for name, first in FIRST.items():
        quiet = run(first)
        assert quiet.returncode == 0 and not quiet.stdout + quiet.stderr, f"{name}: {quiet.stdout}{quiet.stderr}"
        done = run(first + SOLVE)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        version, build = done.stdout.splitlines()
        assert build.startswith(f"sparsegpu {version} for PETSc "), build
        assert len(sys.argv) < 2 or version == sys.argv[1], f"{name}: version {version}, not {sys.argv[1]}"
        print(f"{name}: {build}")
    lost = run("import sparsegpu", SPARSEGPU_LIBRARY="/nowhere/libsparsegpu.so")
    assert lost.returncode and "ImportError: sparsegpu cannot load /nowhere/libsparsegpu.so" in lost.stderr, lost.stderr


main()
