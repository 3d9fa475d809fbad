"""A SLEPc program under the plug-in: the eigenvalues of aij."""
import math
import os
import sys

try:
    import slepc4py
except ImportError:
    print("slepc4py is not installed")
    sys.exit(25)
slepc4py.init(["eigenvalues", "-dll_append", os.environ["SPARSEGPU_LIBRARY"]])
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

n = 100
A = PETSc.Mat().create()
A.setSizes((n, n))
A.setType("sparsegpu")
A.setUp()
for r in range(n):
    A[r, r] = 2.0
    if r:
        A[r, r - 1] = -1.0
    if r < n - 1:
        A[r, r + 1] = -1.0
A.assemble()
eps = SLEPc.EPS().create()
eps.setOperators(A)
eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
eps.setDimensions(3, 24)
eps.setTolerances(1e-10, 1000)
eps.solve()
assert A.getType() == "seqaijsparsegpu"
assert eps.getConverged() >= 3
for k in range(3):
    exact = 2 - 2 * math.cos(math.pi * (n - k) / (n + 1))
    value = eps.getEigenvalue(k).real
    assert abs(value - exact) < 1e-8, (k, value, exact)
print("three largest eigenvalues are right")
