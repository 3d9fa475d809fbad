"""Poisson's equation by finite elements through dolfinx: -div grad u = f in the unit square, u = 0 on its boundary,
linear triangles. f belongs to u = sin(pi x) sin(pi y), so the error in L2 is known. dolfinx asks PETSc's options for the
type of its matrices.

On the CPU:
  $ python3 dolfinx_poisson.py -n 32 -dll_append libsparsegpu.so -mat_type sparsegpu
  1089 unknowns, 13 iterations, error 1.35e-03
  $ mpiexec -n 2 python3 dolfinx_poisson.py -n 32 -dll_append libsparsegpu.so -mat_type sparsegpu
  1089 unknowns, 14 iterations, error 1.35e-03
On a GPU, with a PETSc that has CUDA: the first line with -n 1000; dolfinx assembles on the host.
"""
import sys

import petsc4py

petsc4py.init(sys.argv)  # before dolfinx: PETSc takes its options, and with them the plug-in, from the command line
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 32)
square = mesh.create_unit_square(MPI.COMM_WORLD, n, n)
V = fem.FunctionSpace(square, ("Lagrange", 1))
facets = mesh.locate_entities_boundary(
    square, 1, lambda x: np.isclose(x[0] * (1 - x[0]), 0) | np.isclose(x[1] * (1 - x[1]), 0))
zero = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(V, 1, facets), V)

x = ufl.SpatialCoordinate(square)
exact = ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1])
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
L = ufl.inner(2 * ufl.pi**2 * exact, v) * ufl.dx
options = {"ksp_type": "cg", "pc_type": "gamg", "ksp_rtol": 1e-8}
problem = fem.petsc.LinearProblem(a, L, bcs=[zero], petsc_options=options)
solution = problem.solve()

square_error = fem.assemble_scalar(fem.form((solution - exact) ** 2 * ufl.dx))
error = np.sqrt(square.comm.allreduce(square_error))
iterations = problem.solver.getIterationNumber()
PETSc.Sys.Print(f"{V.dofmap.index_map.size_global} unknowns, {iterations} iterations, error {error:.2e}")
