"""A petsc4py program under the plug-in: types, products and a solve."""
import os
import sys

try:
    import petsc4py
except ImportError:
    print("petsc4py is not installed")
    sys.exit(25)
petsc4py.init(["solve", "-dll_append", os.environ["SPARSEGPU_LIBRARY"]])
from petsc4py import PETSc  # noqa: E402

n = 50
results = {}
for kind in ("aij", "sparsegpu"):
    A = PETSc.Mat().create(PETSc.COMM_WORLD)
    A.setSizes((n, n))
    A.setType(kind)
    A.setUp()
    for r in range(n):
        A[r, r] = 4.0
        if r:
            A[r, r - 1] = -1.0
        if r < n - 1:
            A[r, r + 1] = -2.0
    A.assemble()
    x, b = A.createVecs()
    x.setArray([1.0 / (1 + k) for k in range(n)])
    A.mult(x, b)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.getPC().setType("ilu")
    ksp.setTolerances(rtol=1e-10)
    y = x.duplicate()
    ksp.solve(b, y)
    y.axpy(-1.0, x)
    results[kind] = (A.getType(), b.norm(), ksp.getIterationNumber())
    assert y.norm() < 1e-8 * x.norm(), y.norm()
assert results["sparsegpu"][0] == "seqaijsparsegpu", results
assert abs(results["aij"][1] - results["sparsegpu"][1]) <= 1e-14 * results["aij"][1], results
assert results["aij"][2] == results["sparsegpu"][2], results
print(results)
