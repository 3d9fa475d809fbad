/// Problems made symmetric, and solves of several columns.
#pragma once

#include "direct.hpp"

namespace testing
{

/// p's upper triangle with its mirror image, conjugated if `hermitian`, and a diagonal that dominates; its signs are
/// mixed unless `definite`.
inline Problem Mirrored(const Problem &p, bool hermitian, bool definite)
{
  Problem q = p;
  q.name += hermitian ? "_hermitian" : definite ? "_definite" : "_indefinite";
  q.entries.clear();
  for (const Entry &e : p.entries)
    if (e.j > e.i) {
      q.entries.push_back(e);
      q.entries.push_back({e.j, e.i, hermitian ? PetscConj(e.v) : e.v});
    }
  return Dominant(q, definite);
}

/// Dense blocks of these orders that know only a dense border, the last rows: fronts of one step with other rows.
inline Problem Arrow(const std::vector<PetscInt> &orders, PetscInt border)
{
  std::vector<PetscInt> block;
  for (size_t b = 0; b < orders.size(); ++b) block.insert(block.end(), (size_t)orders[b], (PetscInt)b);
  block.insert(block.end(), (size_t)border, -1);
  const PetscInt       n = (PetscInt)block.size();
  conformance::Builder b("arrow_" + std::to_string(n), n, n);
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt c = 0; c < n; ++c)
      if (block[r] == block[c] || block[r] < 0 || block[c] < 0) b.Add(r, c);
  return b;
}

/// Several columns, b times powers of two, whose solutions are checked one by one.
inline PetscErrorCode CheckColumns(Mat F, const Problem &p, PetscInt columns, bool transpose, PetscReal slack,
                                   const std::string &what)
{
  const std::vector<PetscScalar> b = Input(p.rows, 7, Poison::None);
  const PetscScalar             *xs;
  PetscScalar                   *bs;
  Mat                            B, X;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, columns, nullptr, &B));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, columns, nullptr, &X));
  PetscCall(MatDenseGetArrayWrite(B, &bs));
  for (PetscInt c = 0; c < columns; ++c)
    for (PetscInt r = 0; r < p.rows; ++r) bs[c * p.rows + r] = b[(size_t)r] * (PetscReal)(1 << c);
  PetscCall(MatDenseRestoreArrayWrite(B, &bs));
  for (Mat M : {B, X}) {
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
  PetscCall(MatDenseGetArrayRead(X, &xs));
  for (PetscInt c = 0; c < columns; ++c) {
    std::vector<PetscScalar> x(xs + c * p.rows, xs + (c + 1) * p.rows);
    for (PetscScalar &v : x) v /= (PetscReal)(1 << c);
    PetscCall(CheckBackward(p, x, transpose, what + ", column " + std::to_string(c), slack));
  }
  PetscCall(MatDenseRestoreArrayRead(X, &xs));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves with factors of p by Cholesky's method, plain and transposed: the same bits from the same values.
inline PetscErrorCode CheckSolves(Mat A, Mat F, const Problem &p, PetscReal slack, const std::string &what)
{
  const MatFactorInfo      info = Info(0);
  std::vector<PetscScalar> x, again;

  PetscFunctionBeginUser;
  for (const bool transpose : {false, true}) {
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
    PetscCall(CheckBackward(p, x, transpose, what, slack));
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &again));
    PetscCall(CheckSameBits(x, again, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
