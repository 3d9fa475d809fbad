/// The times of PETSc's solvers and ours.
#include "direct_times.hpp"
#include <petsctime.h>
#include <algorithm>
#include "median.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

PetscErrorCode BackwardError(Mat A, Vec b, Vec x, double *error)
{
  const PetscScalar *array;
  PetscScalar       *to;
  Vec                hx, hb, r;
  PetscReal          nr, na, nx, nb;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &hx));
  PetscCall(VecDuplicate(hx, &hb));
  PetscCall(VecDuplicate(hx, &r));
  for (const auto &pair : {std::make_pair(x, hx), std::make_pair(b, hb)}) {
    PetscCall(VecGetArrayRead(pair.first, &array));
    PetscCall(VecGetArray(pair.second, &to));
    std::copy_n(array, n, to);
    PetscCall(VecRestoreArray(pair.second, &to));
    PetscCall(VecRestoreArrayRead(pair.first, &array));
  }
  PetscCall(MatMult(A, hx, r));
  PetscCall(VecAXPY(r, -1, hb));
  PetscCall(VecNorm(r, NORM_INFINITY, &nr));
  PetscCall(VecNorm(hx, NORM_INFINITY, &nx));
  PetscCall(VecNorm(hb, NORM_INFINITY, &nb));
  PetscCall(MatNorm(A, NORM_INFINITY, &na));
  *error = static_cast<double>(nr / (na * nx + nb));
  PetscCall(VecDestroy(&hx));
  PetscCall(VecDestroy(&hb));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
template <class F> PetscErrorCode Seconds(F call, double *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(call());
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves with b in all columns, where b is.
PetscErrorCode TimeColumns(Mat F, Vec b, const Settings &settings, double *many)
{
  std::vector<double> all;
  double              seconds;
  PetscInt            n;
  PetscBool           device = PETSC_FALSE;
  const PetscScalar  *from;
  PetscScalar        *to;
  Mat                 B, X;

  PetscFunctionBegin;
  PetscCall(VecGetSize(b, &n));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, settings.columns, nullptr, &B));
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(MatDenseGetArrayWrite(B, &to));
  for (PetscInt c = 0; c < settings.columns; c++) std::copy_n(from, n, to + c * n);
  PetscCall(MatDenseRestoreArrayWrite(B, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscObjectTypeCompare((PetscObject)b, VECSEQCUDA, &device));
  if (device) PetscCall(MatConvert(B, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &B));
#endif
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
  for (PetscInt k = 0; k < settings.runs; k++) {
    PetscCall(Seconds([&] { return MatMatSolve(F, B, X); }, &seconds));
    all.push_back(seconds);
  }
  *many = Median(all);
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix that no solver has seen, b = A e, and the seconds of a first factorization.
struct Fresh {
  Mat    A;
  Vec    b, x;
  KSP    ksp;
  PC     pc;
  double first;

  PetscErrorCode Create(Mat host, const std::string &solver);
  PetscErrorCode Destroy();
};

PetscErrorCode Fresh::Create(Mat host, const std::string &solver)
{
  const char *type = solver == MATSOLVERSPARSEGPU ? MATSEQAIJSPARSEGPU
                     : solver == "cusparse"       ? "seqaijcusparse"
                                                  : MATSEQAIJ;

  PetscFunctionBegin;
  PetscCall(MatConvert(host, type, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PCFactorSetMatSolverType(pc, solver.c_str())); // after -pc_type, which forgets it
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Seconds([&] { return PCSetUp(pc); }, &first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Fresh::Destroy()
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TimePetsc(Mat host, const std::string &solver, const Settings &settings, Times *times)
{
  std::vector<double> all, refactor, solve;
  double              seconds;
  MatInfo             info;
  PetscScalar         scale = 2;
  PetscBool           has   = PETSC_FALSE;
  Mat                 F;
  Fresh               s;

  PetscFunctionBegin;
  PetscCall(s.Create(host, solver));
  all.push_back(s.first);
  for (PetscInt k = 1; k < settings.firsts && all.front() < settings.most / 4; k++) {
    PetscCall(s.Destroy());
    PetscCall(s.Create(host, solver));
    all.push_back(s.first);
  }
  times->first = Median(all);
  for (PetscInt k = 0; k < settings.runs && (k == 0 || times->first < settings.most / 4); k++) {
    PetscCall(MatScale(s.A, scale)); // new values
    PetscCall(VecScale(s.b, scale));
    scale = 1 / scale;
    PetscCall(Seconds([&] { return PCSetUp(s.pc); }, &seconds));
    refactor.push_back(seconds);
    PetscCall(Seconds([&] { return PCApply(s.pc, s.b, s.x); }, &seconds));
    solve.push_back(seconds);
  }
  if (scale != (PetscScalar)2) PetscCall(VecScale(s.b, scale)); // b is that of twice the matrix
  PetscCall(BackwardError(host, s.b, s.x, &times->error));
  PetscCall(PCFactorGetMatrix(s.pc, &F));
  info.memory = 0;
  if (F) PetscCall(MatHasOperation(F, MATOP_GETINFO, &has));
  if (has) PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  times->mb = info.memory / 1e6;
  if (settings.columns > 0) PetscCall(TimeColumns(F, s.b, settings, &times->many));
  times->refactor = Median(refactor);
  times->solve    = Median(solve);
  PetscCall(s.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}
