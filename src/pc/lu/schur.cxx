/// Schur complements as PETSc sees them: the index set, the dense matrix and solves with it.
#include "pc/lu/schur.hpp"
#include <petsc/private/matimpl.h>
#include <algorithm>
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

PetscErrorCode MatFactorSetSchurIS_Direct(Mat F, IS is)
{
  DirectFactor         *factor = DirectOf(F);
  const PetscInt       *indices;
  PetscInt              size;
  std::vector<char>     taken;
  std::vector<PetscInt> schur;

  PetscFunctionBegin;
  PetscCheck(!F->ops->lufactornumeric && !F->ops->choleskyfactornumeric, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The index set of a Schur complement comes before the symbolic factorization");
  PetscCall(ISGetLocalSize(is, &size));
  PetscCallCXX(taken.assign(F->rmap->n, 0));
  PetscCall(ISGetIndices(is, &indices));
  PetscInt wrong = -1;
  for (PetscInt k = 0; k < size && wrong < 0; k++) {
    if (indices[k] < 0 || indices[k] >= F->rmap->n || taken[indices[k]])
      wrong = k;
    else
      taken[indices[k]] = 1;
  }
  const PetscInt met = wrong >= 0 ? indices[wrong] : 0;
  if (wrong < 0) PetscCallCXX(schur.assign(indices, indices + size));
  PetscCall(ISRestoreIndices(is, &indices));
  PetscCheck(wrong < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Index %" PetscInt_FMT " of the Schur complement, entry %" PetscInt_FMT
             " of the index set, must be from 0 to %" PetscInt_FMT " and come once",
             met, wrong, F->rmap->n - 1);
  factor->schur = std::move(schur);
  PetscCall(MatDestroy(&F->schur));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, &F->schur));
  F->schur_status = MAT_FACTOR_SCHUR_UNFACTORED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SchurOrder(Reordering *reordering, const CsrView &rows, const std::vector<PetscInt> &given,
                          std::vector<PetscInt> *order)
{
  const std::vector<PetscInt> &schur = DirectOf(reordering->F)->schur;
  std::vector<PetscInt>        number, unknown, i{0}, j, inner;

  PetscFunctionBegin;
  PetscCallCXX(number.assign(rows.rows, 0)); // of the other variables; -1: of the Schur complement
  for (const PetscInt s : schur) number[s] = -1;
  order->clear();
  if (!given.empty()) {
    for (const PetscInt u : given)
      if (number[u] >= 0) PetscCallCXX(order->push_back(u));
  } else {
    for (PetscInt u = 0; u < rows.rows; u++) {
      if (number[u] < 0) continue;
      number[u] = static_cast<PetscInt>(unknown.size());
      PetscCallCXX(unknown.push_back(u));
    }
    for (const PetscInt u : unknown) {
      for (PetscInt e = rows.i[u]; e < rows.i[u + 1]; e++)
        if (number[rows.j[e]] >= 0) PetscCallCXX(j.push_back(number[rows.j[e]]));
      PetscCallCXX(i.push_back(static_cast<PetscInt>(j.size())));
    }
    const PetscInt n = static_cast<PetscInt>(unknown.size());
    if (n > 0)
      PetscCall(
          Reorder(CsrView{n, n, static_cast<PetscInt>(j.size()), i.data(), j.data(), nullptr}, reordering, &inner));
    for (const PetscInt k : inner) PetscCallCXX(order->push_back(unknown[k]));
  }
  PetscCallCXX(order->insert(order->end(), schur.begin(), schur.end()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SchurNumeric(Mat F, Mat A, const Scalar *a, bool *good)
{
  DirectFactor   *factor = DirectOf(F);
  const LuReport &report = factor->Report();
  const PetscInt  size   = static_cast<PetscInt>(factor->schur.size());
  PetscScalar    *to;
  Mat             S;

  PetscFunctionBegin;
  PetscCall(factor->Numeric(a, PetscSqrtReal(PETSC_MACHINE_EPSILON)));
  *good = report.finite && report.perturbed == 0;
  PetscCall(PetscInfo(F,
                      "Schur complement of order %" PetscInt_FMT ": %" PetscInt_FMT
                      " pivots of the other variables replaced, the smallest %g, growth %g\n",
                      size, report.perturbed, (double)report.smallest, (double)report.growth));
  // a new matrix: the old one may be factored in place, inverted, or in use elsewhere
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, &S));
  PetscCall(MatDenseGetArrayWrite(S, &to));
  PetscCall(factor->SchurBlock(reinterpret_cast<Scalar *>(to)));
  PetscCall(MatDenseRestoreArrayWrite(S, &to));
  PetscCall(MatAssemblyBegin(S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(S, MAT_FINAL_ASSEMBLY));
  if (factor->kind == DirectKind::Cholesky)
    PetscCall(MatSetOption(S, factor->hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
  if (A->spd == PETSC_BOOL3_TRUE) PetscCall(MatSetOption(S, MAT_SPD, PETSC_TRUE));
#if defined(PETSC_HAVE_CUDA)
  // PETSc's Cholesky factorization there is of definite matrices alone
  const bool factors = F->factortype == MAT_FACTOR_LU || A->spd == PETSC_BOOL3_TRUE;
  if (factors && factor->Where() == Space::Device && size > 0)
    PetscCall(MatConvert(S, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &S));
#endif
  PetscCall(MatDestroy(&F->schur));
  F->schur        = S;
  F->schur_status = MAT_FACTOR_SCHUR_UNFACTORED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SchurSolve(Mat F, const Scalar *b, Scalar *x, bool transpose)
{
  Vec        rhs, solution;
  const auto solve = [&](Scalar *v) { // in place, on the host
    const size_t       size = DirectOf(F)->schur.size();
    PetscScalar       *to;
    const PetscScalar *from;

    PetscFunctionBegin;
    PetscCall(VecGetArrayWrite(rhs, &to));
    std::copy_n(reinterpret_cast<const PetscScalar *>(v), size, to);
    PetscCall(VecRestoreArrayWrite(rhs, &to));
    if (transpose)
      PetscCall(MatFactorSolveSchurComplementTranspose(F, rhs, solution));
    else
      PetscCall(MatFactorSolveSchurComplement(F, rhs, solution));
    PetscCall(VecGetArrayRead(solution, &from));
    std::copy_n(from, size, reinterpret_cast<PetscScalar *>(v));
    PetscCall(VecRestoreArrayRead(solution, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(F->schur, &solution, &rhs));
  PetscCall(DirectOf(F)->SolveSchur(b, x, transpose, solve));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
