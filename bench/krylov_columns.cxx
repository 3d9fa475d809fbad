/// Each way has a matrix and a solver, whose first solve is not timed.
#include "krylov_columns.hpp"
#include <petsctime.h>
#include <algorithm>
#include <iterator>
#include "krylov_systems.hpp"
#include "median.hpp"
#include "petsc/compat.hpp"
#include "residual.hpp"
#include "sparsegpu.h"

PetscErrorCode CreateColumns(Vec b, PetscInt columns, Mat *B, Mat *X)
{
  PetscInt  rows;
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VecGetSize(b, &rows));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscObjectTypeCompareAny((PetscObject)b, &device, VECSEQCUDA, VECCUDA, ""));
#endif
  for (Mat *M : {B, X}) {
    PetscScalar *entries;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, rows, columns, nullptr, M));
    PetscCall(MatDenseGetArrayWrite(*M, &entries));
    for (PetscInt c = 0; c < columns; c++)
      for (PetscInt r = 0; r < rows; r++) entries[c * rows + r] = Weight(r, rows + c);
    PetscCall(MatDenseRestoreArrayWrite(*M, &entries));
    PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
#if defined(PETSC_HAVE_CUDA)
    if (device) PetscCall(MatConvert(*M, MATDENSECUDA, MAT_INPLACE_MATRIX, M));
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// A way to solve for all columns, and what was measured.
struct Way {
  const char *name, *together, *block;
  Mat         A = nullptr, B = nullptr, X = nullptr;
  KSP         ksp = nullptr;
  PetscReal   residual;
  PetscInt    iterations;

  PetscErrorCode Create(Mat plain, PetscInt columns);
  PetscErrorCode Solve(PetscReal rtol, double *seconds);
  PetscErrorCode TakeResiduals();
  PetscErrorCode Destroy();
};

PetscErrorCode Way::Create(Mat plain, PetscInt columns)
{
  Vec b;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(MatConvert(plain, MATSEQAIJSPARSEGPU, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, nullptr, &b));
  PetscCall(CreateColumns(b, columns, &B, &X));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetType(ksp, KSPSPARSEGPUCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpucg_together", together));
  PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpucg_block", block));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClearValue(nullptr, "-ksp_sparsegpucg_together"));
  PetscCall(PetscOptionsClearValue(nullptr, "-ksp_sparsegpucg_block"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The time includes the norm of the solutions, for which the host waits.
PetscErrorCode Way::Solve(PetscReal rtol, double *seconds)
{
  PetscLogDouble begin, end;
  PetscReal      norm;

  PetscFunctionBegin;
  PetscCall(KSPSetTolerances(ksp, rtol, 0, PETSC_MAX_REAL, 100000));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(MatNorm(X, NORM_FROBENIUS, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Way::TakeResiduals()
{
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, nullptr, &columns));
  residual = 0;
  for (PetscInt c = 0; c < columns; c++) {
    PetscReal one;
    Vec       b, x;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(MatGetColumnVector(B, b, c));
    PetscCall(MatGetColumnVector(X, x, c));
    PetscCall(RelativeResidual(A, b, x, &one));
    residual = std::max(residual, one);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Way::Destroy()
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MeasureColumns(Mat plain, PetscInt columns, PetscInt repeat, const PetscReal *rtol, PetscInt tolerances)
{
  Way ways[] = {{"singly", "off", "no"}, {"together", "on", "no"}, {"block", "on", "yes"}};

  PetscFunctionBegin;
  for (Way &way : ways) PetscCall(way.Create(plain, columns));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "whole solves for %" PetscInt_FMT " columns, without set-up\n  %-9s %8s %10s %13s %10s %8s\n",
                        columns, "columns", "rtol", "iterations", "true residual", "ms", "ratio"));
  for (PetscInt k = 0; k < tolerances; k++) {
    std::vector<double> seconds[std::size(ways)];
    for (PetscInt r = 0; r <= repeat; r++)
      for (size_t n = 0; n < std::size(ways); n++) {
        double time;
        PetscCall(ways[n].Solve(rtol[k], &time));
        if (r > 0) PetscCallCXX(seconds[n].push_back(time));
      }
    for (size_t n = 0; n < std::size(ways); n++) {
      PetscCall(ways[n].TakeResiduals());
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-9s %8.0e %10" PetscInt_FMT " %13.3e %10.3f %8.2f\n", ways[n].name,
                            (double)rtol[k], ways[n].iterations, (double)ways[n].residual, 1e3 * Median(seconds[n]),
                            Median(seconds[0]) / Median(seconds[n])));
    }
  }
  for (Way &way : ways) PetscCall(way.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}
