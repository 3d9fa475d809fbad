/// A sparse direct factorization: row matching and scaling, order, fronts, numbers, solves and their refinement. The
/// pivots are chosen before the values are known (static pivoting); small ones are replaced and counted, and iterative
/// refinement with a copy of the matrix takes back what that does to the solutions (Li & Demmel, ACM Trans. Math.
/// Softw. 29(2), 2003).
#pragma once

#include <petscmat.h>
#include "pc/lu/matching.hpp"
#include "pc/lu/numeric.hpp"

namespace sparsegpu
{

struct LuOptions {
  PetscInt  matching = 0;                           ///< LuMatchingNames
  PetscInt  refine   = 10;                          ///< refinement steps at most; 0: none, and no copy of the matrix
  PetscReal exchange = static_cast<PetscReal>(0.1); ///< LuPivoting::exchange
};
extern const char *const LuMatchingNames[3];

enum class DirectKind {
  LU,
  Cholesky ///< L D L^T of the upper triangle and its mirror image, without exchanges
};

class DirectFactor
{
public:
  DirectKind kind      = DirectKind::LU;
  bool       hermitian = false; ///< the mirror image is conjugated
  LuOptions  options;
  PetscReal  small = PetscSqrtReal(PETSC_MACHINE_EPSILON); ///< pivots below this part of the largest entry are replaced
  PetscReal  replace = 0; ///< pivots that are too small become this large; 0: by the norm of the matrix

  /// Everything that does not depend on the values, but for the matching, which looks at them. A: rows and values on
  /// the host. `row`, `column` [A.rows]: the order of elimination. `reorder` gives an order where the matching moves
  /// rows. Errors: PETSC_ERR_MAT_LU_ZRPVT naming a column of a structurally singular matrix; PETSC_ERR_MEM.
  PetscErrorCode Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column,
                          PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *), void *context);
  /// The factors of the matrix with the pattern that Symbolic() saw and these values [nonzeros]. No allocation.
  PetscErrorCode Numeric(const Scalar *a);
  /// x = A^-1 b or A^-T b, `count` columns, refined. Errors: PETSC_ERR_NOT_CONVERGED naming the backward error that
  /// refinement got to.
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose);
  /// Does a solve get to a small backward error? *error is what it got to.
  PetscErrorCode Probe(bool *good, PetscReal *error);
  /// Was the diagonal left alone, though it is weak, for the sake of a symmetric structure? Then
  /// -mat_sparsegpu_lu_matching auto may still match rows.
  bool           MayMatch() const { return may_match_; }
  PetscInt       SingularColumn() const { return singular_column_; } ///< that no row is left for; -1: none
  PetscErrorCode View(PetscViewer viewer) const;

  PetscInt        Rows() const { return rows_; }
  PetscInt        MatrixNonzeros() const { return static_cast<PetscInt>(j_.size()); }
  PetscCount      Nonzeros() const { return plan_.values; }
  PetscLogDouble  Flops() const { return plan_.flops; }
  PetscLogDouble  Bytes() const;
  const LuReport &Report() const { return report_; }
  /// The row of the matrix that is eliminated k-th.
  PetscInt MatrixRow(PetscInt k) const { return row_order_[k]; }

private:
  PetscErrorCode Match(const CsrView &A, std::vector<PetscInt> *row, std::vector<PetscInt> *column,
                       PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *), void *context);
  PetscErrorCode ApplyFactors(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose,
                              bool add);
  PetscReal      Residual(const Scalar *b, const Scalar *x, bool transpose);
  PetscErrorCode Refine(const Scalar *b, Scalar *x, bool transpose, PetscReal *error);
  PetscReal      Goal(bool transpose) const;
  void           ScaleByDiagonal(const Scalar *a);

  PetscInt               rows_    = 0;
  bool                   matched_ = false, may_match_ = false;
  std::vector<PetscInt>  i_, j_;                          ///< the matrix's pattern
  std::vector<Scalar>    a_;                              ///< its values as they were factored; none without refinement
  PetscReal              row_norm_ = 0, column_norm_ = 0; ///< largest sums of magnitudes
  PetscInt               longest_row_ = 0, longest_column_ = 0;
  std::vector<PetscInt>  row_order_, column_order_; ///< [rows] eliminated k-th
  std::vector<PetscReal> row_scale_, column_scale_; ///< [rows] of the matrix's own rows and columns
  FrontTree              tree_;
  FrontPlan              plan_;
  std::vector<Scalar>    values_, work_;
  std::vector<PetscInt>  local_row_;
  std::vector<Scalar>    w_, scratch_, residual_;
  std::vector<PetscReal> column_sums_; ///< [rows] scratch
  LuReport               report_;
  PetscInt               singular_column_ = -1;
  PetscInt               refined_         = 0; ///< steps of the last solve
  PetscReal              reached_         = 0; ///< its backward error
};

} // namespace sparsegpu
