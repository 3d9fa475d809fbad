"""Runs a Python program as it is and prints the values of expressions in its variables.

  run_demo.py PROGRAM EXPRESSION ...

Random numbers have a fixed seed, and pictures go nowhere. Rank 0 prints; all ranks evaluate, since norms are
collective. An expression may call more_than_with_aij(ksp): the partition of a mesh may differ from run to run, and
iterations with it, so the same system is solved again in the same process with its matrices converted to AIJ.
"""
import os
import random
import runpy
import sys

os.environ.setdefault("MPLBACKEND", "Agg")
import numpy  # noqa: E402


def with_aij(A):
    """A copy of A of type AIJ, with what multigrid is told of it."""
    from petsc4py import PETSc

    copy = A.convert("aij", PETSc.Mat())
    assert "sparsegpu" not in copy.getType(), copy.getType()
    copy.setBlockSizes(*A.getBlockSizes())
    near, null = A.getNearNullSpace(), A.getNullSpace()
    if near.handle:
        copy.setNearNullSpace(near)
    if null.handle:
        copy.setNullSpace(null)
    return copy


def more_than_with_aij(ksp):
    """Iterations of the last solve of `ksp` minus those of the same solve with AIJ."""
    from petsc4py import PETSc

    plain = PETSc.KSP().create(ksp.comm)
    plain.setOptionsPrefix(ksp.getOptionsPrefix())
    plain.setOperators(*(with_aij(A) for A in ksp.getOperators()))
    plain.setType(ksp.getType())
    plain.getPC().setType(ksp.getPC().getType())
    plain.setTolerances(*ksp.getTolerances())
    plain.setFromOptions()
    b = ksp.getRhs()
    plain.solve(b, b.duplicate())
    assert plain.getConvergedReason() > 0, plain.getConvergedReason()
    return ksp.getIterationNumber() - plain.getIterationNumber()


def main():
    program, expressions = sys.argv[1], sys.argv[2:]
    sys.argv = [program]
    numpy.random.seed(1)
    random.seed(1)
    variables = runpy.run_path(program, run_name="__main__")
    from mpi4py import MPI  # the program may want to start MPI, and to end it, itself

    variables["more_than_with_aij"] = more_than_with_aij
    for expression in expressions:
        value = eval(expression, variables)  # the expressions are the test's own
        if MPI.COMM_WORLD.rank == 0:
            print("result", expression, repr(value), flush=True)


main()
