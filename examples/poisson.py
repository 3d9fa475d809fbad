"""Poisson's equation in Python: -div grad u = f in the unit square, u = 0 on its boundary, five-point differences on
n^2 inner points, through petsc4py. f belongs to u = sin(pi x) sin(pi y), so the error of the differences is known.

On the CPU:
  $ mpiexec -n 2 python3 poisson.py -n 63 -ksp_type cg -pc_type gamg -dll_append libsparsegpu.so -mat_type sparsegpu
  3969 unknowns, 6 iterations, error 2.10e-04
  $ python3 poisson.py -n 63 -pc_type lu -dll_append libsparsegpu.so -mat_type sparsegpu
  3969 unknowns, 1 iterations, error 2.01e-04
On a GPU, with a PETSc that has CUDA: with -n 1000 -ksp_type sparsegpucg -pc_type sparsegpuamg.
"""
import sys

import petsc4py

petsc4py.init(sys.argv)  # PETSc takes its options, and with them the plug-in, from the command line
import numpy as np
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 63)
h = 1.0 / (n + 1)

A = PETSc.Mat().create()
A.setSizes((n * n, n * n))
A.setFromOptions()  # -mat_type
A.setPreallocationNNZ(5)
begin, end = A.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, n)
    A[row, row] = 4.0
    if i > 0:
        A[row, row - n] = -1.0
    if i < n - 1:
        A[row, row + n] = -1.0
    if j > 0:
        A[row, row - 1] = -1.0
    if j < n - 1:
        A[row, row + 1] = -1.0
A.assemble()

x, b = A.createVecs()
rows = np.arange(begin, end)
exact = np.sin(np.pi * h * (rows // n + 1)) * np.sin(np.pi * h * (rows % n + 1))
b.setArray(h * h * 2 * np.pi**2 * exact)

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setFromOptions()  # -ksp_type, -pc_type
ksp.solve(b, x)

x.setArray(x.getArray() - exact)
error = x.norm(PETSc.NormType.INFINITY)
PETSc.Sys.Print(f"{n * n} unknowns, {ksp.getIterationNumber()} iterations, error {error:.2e}")
