/// Each solve begins with a new solver, and a new matrix or new values.
#include "krylov_whole.hpp"
#include <petsctime.h>
#include <algorithm>
#include <string>
#include "median.hpp"
#include "petsc/compat.hpp"
#include "residual.hpp"

void AddDeflated(MatType native, MatType ours, std::vector<WholeSolver> *solvers)
{
  for (const KSPType type : {KSPLGMRES, KSPDGMRES}) solvers->push_back(WholeSolver{native, type, nullptr, true, 0, {}});
  for (const int kept : {4, 8, 12}) solvers->push_back(WholeSolver{ours, KSPSPARSEGPUGMRES, nullptr, true, kept, {}});
}

/// A matrix from coordinates, and its values where its vectors are.
struct FromCoordinates {
  Mat A      = nullptr;
  Vec values = nullptr;

  PetscErrorCode Create(Mat plain, MatType type);
  PetscErrorCode SetValues();
};

/// *A without values.
PetscErrorCode FromCoordinates::Create(Mat plain, MatType type)
{
  std::vector<PetscInt> i, j;
  const PetscInt       *begin, *column;
  PetscScalar          *to;
  const PetscScalar    *from;
  PetscInt              n;
  PetscBool             done;
  VecType               vectors;
  Vec                   x;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(plain, 0, PETSC_FALSE, PETSC_FALSE, &n, &begin, &column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no rows");
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt e = begin[r]; e < begin[r + 1]; e++) {
      PetscCallCXX(i.push_back(r));
      PetscCallCXX(j.push_back(column[e]));
    }
  PetscCall(MatRestoreRowIJ(plain, 0, PETSC_FALSE, PETSC_FALSE, nullptr, &begin, &column, &done));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetPreallocationCOO(A, static_cast<PetscCount>(i.size()), i.data(), j.data()));
  PetscCall(MatCreateVecs(A, &x, nullptr));
  PetscCall(VecGetType(x, &vectors));
  PetscCall(VecCreate(PETSC_COMM_SELF, &values));
  PetscCall(VecSetSizes(values, static_cast<PetscInt>(i.size()), PETSC_DECIDE));
  PetscCall(VecSetType(values, vectors));
  PetscCall(VecDestroy(&x));
  PetscCall(MatSeqAIJGetArrayRead(plain, &from));
  PetscCall(VecGetArrayWrite(values, &to));
  std::copy_n(from, i.size(), to);
  PetscCall(VecRestoreArrayWrite(values, &to));
  PetscCall(MatSeqAIJRestoreArrayRead(plain, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FromCoordinates::SetValues()
{
  const PetscScalar *array;
  PetscMemType       memory;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(values, &array, &memory));
  PetscCall(MatSetValuesCOO(A, array, INSERT_VALUES));
  PetscCall(VecRestoreArrayReadAndMemType(values, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One of them, new values `there`, or of a new matrix where that is null; `keep`: its time is kept.
static PetscErrorCode SolveWhole(Mat plain, FromCoordinates *there, bool keep, WholeSolver *solver, size_t k)
{
  WholeSolver::Found &found = solver->found[k];
  PetscLogDouble      begin, end;
  PetscReal           norm;
  Mat                 A;
  Vec                 x, b;
  KSP                 ksp;
  PC                  pc;

  PetscFunctionBegin;
  if (there) {
    A = there->A;
    PetscCall(PetscObjectReference((PetscObject)A));
  } else {
    PetscCall(MatConvert(plain, solver->matrix, MAT_INITIAL_MATRIX, &A));
  }
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNorm(b, NORM_2, &norm)); // waits for the device
  PetscCall(PetscTime(&begin));
  if (there) PetscCall(there->SetValues());
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetType(ksp, solver->type));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  if (solver->right) PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  if (solver->basis) PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpugmres_basis", solver->basis));
  const std::string kept = std::to_string(solver->kept);
  PetscCall(PetscOptionsSetValue(nullptr, "-ksp_sparsegpugmres_deflation", kept.c_str()));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClearValue(nullptr, "-ksp_sparsegpugmres_deflation"));
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
      const std::string way = solver.kept ? "kept:" + std::to_string(solver.kept) : solver.basis ? solver.basis : "-";
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-20s %-14s %-7s %8.0e %10" PetscInt_FMT " %13.3e %10.3f %8.2f\n",
                            solver.matrix, solver.type, way.c_str(), (double)found.rtol, found.iterations,
                            (double)found.residual, 1e3 * Median(found.seconds),
                            Median(solvers[0].found[k].seconds) / Median(found.seconds)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureWhole(Mat plain, bool values_there, PetscInt repeat, const PetscReal *rtol, PetscInt tolerances,
                            std::vector<WholeSolver> *solvers)
{
  std::vector<FromCoordinates> there(solvers->size());

  PetscFunctionBegin;
  for (size_t k = 0; k < there.size() && values_there; k++) PetscCall(there[k].Create(plain, (*solvers)[k].matrix));
  for (WholeSolver &solver : *solvers)
    for (PetscInt k = 0; k < tolerances; k++) PetscCallCXX(solver.found.push_back(WholeSolver::Found{rtol[k], {}}));
  for (PetscInt r = 0; r <= repeat; r++) // the first round loads kernels
    for (PetscInt k = 0; k < tolerances; k++)
      for (size_t n = 0; n < solvers->size(); n++)
        PetscCall(SolveWhole(plain, values_there ? &there[n] : nullptr, r > 0, &(*solvers)[n], static_cast<size_t>(k)));
  for (FromCoordinates &own : there) {
    PetscCall(MatDestroy(&own.A));
    PetscCall(VecDestroy(&own.values));
  }
  PetscCall(ReportWhole(*solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
