/// A sparse direct factorization: row matching and scaling, order, fronts, numbers, solves and their refinement. The
/// pivots are chosen before the values are known (static pivoting); small ones are replaced and counted, and iterative
/// refinement with a copy of the matrix takes back what that does to the solutions (Li & Demmel, ACM Trans. Math.
/// Softw. 29(2), 2003).
#pragma once

#include <petscmat.h>
#include "pc/arrays.hpp"
#include "pc/lu/engine.hpp"
#include "pc/lu/matching.hpp"

namespace sparsegpu
{

struct LuOptions {
  PetscInt  matching = 0;                           ///< LuMatchingNames
  PetscInt  refine   = 10;                          ///< refinement steps at most; 0: none, and no copy of the matrix
  PetscReal exchange = static_cast<PetscReal>(0.1); ///< LuPivoting::exchange
  long long spins = 1ll << 28; ///< on the GPU a thread gives up after this many polls, minutes, in which no task ends
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
  Staging    staging;
  DeviceMemory matrix; ///< values that lie on the host

  /// Everything that does not depend on the values, but for the matching, which looks at them; numbers will be worked
  /// on in `space`. A: rows and values on the host. `row`, `column` [A.rows]: the order of elimination. `reorder` gives
  /// an order where the matching moves rows. Errors: PETSC_ERR_MAT_LU_ZRPVT naming a column of a structurally singular
  /// matrix; PETSC_ERR_MEM.
  PetscErrorCode Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column,
                          PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *), void *context,
                          Space space);
  /// The factors of the matrix with the pattern that Symbolic() saw and these values [nonzeros], which lie in its
  /// space. No allocation after the first.
  PetscErrorCode Numeric(const Scalar *a);
  /// x = A^-1 b or A^-T b, `count` columns in the same space, refined. Errors: PETSC_ERR_NOT_CONVERGED naming the
  /// backward error that refinement got to.
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose);
  /// Does a solve get to a small backward error? *error is what it got to.
  PetscErrorCode Probe(bool *good, PetscReal *error);
  /// Was the diagonal left alone, though it is weak, for the sake of a symmetric structure? Then
  /// -mat_sparsegpu_lu_matching auto may still match rows.
  bool           MayMatch() const { return may_match_; }
  PetscInt       SingularColumn() const { return singular_column_; } ///< that no row is left for; -1: none
  PetscErrorCode View(PetscViewer viewer) const;

  PetscInt        Rows() const { return analysis_.rows; }
  PetscInt        MatrixNonzeros() const { return static_cast<PetscInt>(analysis_.j.size()); }
  PetscCount      Nonzeros() const { return analysis_.plan.values; }
  PetscLogDouble  Flops() const { return analysis_.plan.flops; }
  PetscLogDouble  Bytes() const { return engine_ ? engine_->Bytes() : 0; }
  Space           Where() const { return engine_ ? engine_->Where() : Space::Host; }
  const LuReport &Report() const { return report_; }
  /// The row of the matrix that is eliminated k-th.
  PetscInt MatrixRow(PetscInt k) const { return analysis_.row_order[k]; }

private:
  PetscErrorCode Match(const CsrView &A, std::vector<PetscInt> *row, std::vector<PetscInt> *column,
                       PetscErrorCode (*reorder)(const CsrView &, void *, std::vector<PetscInt> *), void *context);
  PetscErrorCode Refine(const Scalar *b, Scalar *x, bool transpose, PetscReal *error);
  PetscReal      Goal(bool transpose) const;

  LuAnalysis                analysis_;
  std::unique_ptr<LuEngine> engine_;
  bool                      may_match_ = false;
  LuReport                  report_;
  PetscInt                  singular_column_ = -1;
  PetscInt                  refined_         = 0; ///< steps of the last solve
  PetscReal                 reached_         = 0; ///< its backward error
};

} // namespace sparsegpu
