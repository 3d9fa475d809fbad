/// Each solve begins with a new matrix and a new solver.
#include "krylov_whole.hpp"
#include <petsctime.h>
#include "median.hpp"
#include "petsc/compat.hpp"
#include "residual.hpp"

/// One of them; `keep`: its time is kept.
static PetscErrorCode SolveWhole(Mat plain, bool keep, WholeSolver *solver, size_t k)
{
  WholeSolver::Found &found = solver->found[k];
  PetscLogDouble      begin, end;
  PetscReal           norm;
  Mat                 A;
  Vec                 x, b;
  KSP                 ksp;
  PC                  pc;

  PetscFunctionBegin;
  PetscCall(MatConvert(plain, solver->matrix, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNorm(b, NORM_2, &norm)); // waits for the device
  PetscCall(PetscTime(&begin));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetType(ksp, solver->type));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  if (solver->right) PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  if (solver->basis) PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpugmres_basis", solver->basis));
  PetscCall(KSPSetFromOptions(ksp));
  if (solver->basis) PetscCall(PetscOptionsClearValue(nullptr, "-ksp_sparsegpugmres_basis"));
  PetscCall(KSPSetTolerances(ksp, found.rtol, 0, PETSC_MAX_REAL, 100000));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  if (keep) PetscCallCXX(found.seconds.push_back(end - begin));
  PetscCall(KSPGetIterationNumber(ksp, &found.iterations));
  PetscCall(RelativeResidual(A, b, x, &found.residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportWhole(const std::vector<WholeSolver> &solvers)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "whole solves, set-up included\n  %-20s %-14s %-7s %8s %10s %13s %10s %8s\n",
                        "matrix", "solver", "basis", "rtol", "iterations", "true residual", "ms", "ratio"));
  for (size_t k = 0; k < solvers[0].found.size(); k++)
    for (const WholeSolver &solver : solvers) {
      const WholeSolver::Found &found = solver.found[k];
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-20s %-14s %-7s %8.0e %10" PetscInt_FMT " %13.3e %10.3f %8.2f\n",
                            solver.matrix, solver.type, solver.basis ? solver.basis : "-", (double)found.rtol,
                            found.iterations, (double)found.residual, 1e3 * Median(found.seconds),
                            Median(solvers[0].found[k].seconds) / Median(found.seconds)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureWhole(Mat plain, PetscInt repeat, const PetscReal *rtol, PetscInt tolerances,
                            std::vector<WholeSolver> *solvers)
{
  PetscFunctionBegin;
  for (WholeSolver &solver : *solvers)
    for (PetscInt k = 0; k < tolerances; k++) PetscCallCXX(solver.found.push_back(WholeSolver::Found{rtol[k], {}}));
  for (PetscInt r = 0; r <= repeat; r++) // the first round loads kernels
    for (PetscInt k = 0; k < tolerances; k++)
      for (WholeSolver &solver : *solvers) PetscCall(SolveWhole(plain, r > 0, &solver, static_cast<size_t>(k)));
  PetscCall(ReportWhole(*solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
