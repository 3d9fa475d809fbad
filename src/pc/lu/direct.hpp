/// A sparse direct factorization: row matching and scaling, order, fronts, numbers, solves and their refinement. The
/// pivots are chosen before the values are known (static pivoting); small ones are replaced and counted, and iterative
/// refinement with a copy of the matrix corrects the effect on solutions (Li & Demmel, ACM Trans. Math.
/// Softw. 29(2), 2003). Where that is not enough, the host factors the matrix with partial pivoting.
#pragma once

#include <petscmat.h>
#include <functional>
#include "pc/factor/arrays.hpp"
#include "pc/lu/engine_pivoted.hpp"
#include "pc/lu/pairing.hpp"

namespace sparsegpu::lu
{

struct LuOptions {
  PetscInt  matching = 0;                           ///< LuMatchingNames
  PetscInt  refine   = 10;                          ///< refinement steps at most; 0: none, and no copy of the matrix
  PetscInt  pivoted  = 0;                           ///< LuPivotedNames
  PetscInt  host     = 0;                           ///< LuHostNames
  PetscInt  spill    = 2;                           ///< LuSpillNames
  bool      single   = false;                       ///< factors in single precision, if solves are good with them
  PetscReal exchange = static_cast<PetscReal>(0.1); ///< LuPivoting::exchange
  long long spins = 1ll << 28; ///< on the GPU a thread gives up after this many polls, minutes, in which no task ends
};
extern const char *const LuMatchingNames[3];
/// Partial pivoting on the host: where nothing else meets the bound, at once, never.
extern const char *const LuPivotedNames[3];
/// A system on the device is factored by the host: where that is predicted to be faster, always, never.
extern const char *const LuHostNames[3];
/// As Spill has them.
extern const char *const LuSpillNames[3];
/// As PetscOptionsEnum() takes them.
extern const char *const LuPrecisionNames[];
/// Joins the last `count` unknowns to a path: direct_schur.cxx.
PetscErrorCode AddPath(PetscInt count, SymmetricPattern *pattern);

/// A residual of at most this part of the right-hand side is that of a solved system. A singular one may have small
/// backward errors, by solutions as large as 1 / eps; its residuals are as large as the right-hand side.
constexpr PetscReal SOLVED = static_cast<PetscReal>(1e-2);

enum class DirectKind {
  LU,
  Cholesky ///< L D L^T of the upper triangle and its mirror image
};

/// What values decide of an analysis.
struct LuArrangement {
  DirectKind             kind    = DirectKind::LU;
  bool                   matched = false, paired = false;
  std::vector<PetscInt>  row_order, column_order; ///< LuAnalysis
  std::vector<PetscReal> row_scale, column_scale;
  std::string            ordered_by; ///< DirectFactor
  std::vector<PetscInt>  deferred;   ///< the same
  std::vector<PetscInt>  pairing;    ///< Matching::row, if matched
  std::vector<PetscInt>  partner;    ///< Pairing::partner, if paired by a matching
};

class DirectFactor
{
public:
  DirectKind  kind = DirectKind::LU, wanted = DirectKind::LU; ///< LU replaces Cholesky where fronts have no pivots
  PetscInt    gave_way = 0;                ///< factorizations in a row where it did; the second stays LU
  std::string ordered_by;                  ///< what the ordering says of how it was found; empty: nothing
  std::vector<PetscInt> order;             ///< [rows] of the symbolic phase, if Cholesky is wanted; none: for pairs
  std::string           order_by;          ///< ordered_by of that
  std::vector<PetscInt> schur;             ///< variables of a Schur complement, which come last in the order
  bool                  strict    = false; ///< failures are errors (MatSetErrorIfFailure())
  bool                  hermitian = false; ///< the mirror image is conjugated
  bool                  may_move  = false; ///< the next analysis may choose the host instead of the device
  LuOptions             options;
  PetscReal             replace = 0; ///< pivots that are too small become this large; 0: by the norm of the matrix
  Staging               staging;
  DeviceMemory          matrix; ///< values that lie on the host

  using Orderer = PetscErrorCode (*)(const CsrView &, void *, std::vector<PetscInt> *);

  /// Everything that does not depend on the values, but for the matching, which looks at them; numbers will be worked
  /// on in `space`. A: rows and values on the host. `row`, `column` [A.rows]: the order of elimination; none: `reorder`
  /// gives one. It also does where the matching moves rows. Where these values leave no row for SingularColumn(),
  /// nothing is matched. Errors: PETSC_ERR_MEM.
  PetscErrorCode Symbolic(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column, Orderer reorder,
                          void *context, Space space);
  /// Whether rows may be matched, or matched again: not in a symmetric factorization, nor with
  /// -mat_sparsegpu_lu_matching off.
  bool MayMatch() const { return kind == DirectKind::LU && options.matching != 2 && schur.empty(); }
  bool Matched() const { return analysis_.matched; }
  /// Rows are matched for these values, and the analysis is repeated if that matching differs from the one in use.
  PetscErrorCode MatchAgain(const CsrView &A, Orderer reorder, void *context, bool *changed);
  /// Whether pivots of order 1 and 2 are chosen within tiles, and may be: in a symmetric factorization.
  bool Paired() const { return analysis_.paired; }
  bool MayPair() const { return kind == DirectKind::Cholesky && schur.empty(); }
  /// They are from now on, with the same order, until Symbolic().
  PetscErrorCode ChoosePairs();
  /// The same, with unknowns paired and scaled by a matching for these values; the analysis is repeated if that differs
  /// from what is in use. `context`: a Reordering.
  PetscErrorCode PairAgain(const CsrView &A, void *context, bool *changed);
  /// Columns whose pivots were poor in the last Numeric() come last in the order, and the analysis is repeated. *count:
  /// how many wait now; 0: nothing has changed, as none was poor, or too many were, which a few are where factors are
  /// `good`, or as none can wait: in a symmetric factorization without pairs, or in single precision. See
  /// direct_defer.cxx.
  PetscErrorCode Defer(const CsrView &A, bool good, PetscInt *count);
  /// What Numeric() has put in the place of pivots that were too small.
  PetscReal Replacement() const { return replace > 0 ? replace : small_ * report_.largest; }
  /// The arrangement in use, and the way back to it; A has the pattern that was analysed.
  PetscErrorCode GetArrangement(LuArrangement *arrangement) const;
  PetscErrorCode Restore(const CsrView &A, const LuArrangement &arrangement);
  /// The factors of the matrix with the pattern that Symbolic() saw and these values [nonzeros], which lie in its
  /// space. Pivots below `small` times the largest entry are replaced. No allocation after the first.
  PetscErrorCode Numeric(const Scalar *a, PetscReal small);
  /// Whether the fronts' factors are in single precision, and their machine epsilon.
  bool      InSingle() const { return single_; }
  PetscReal Epsilon() const { return single_ ? EpsilonOf<Single>() : PETSC_MACHINE_EPSILON; }
  /// Factors are in full precision from now on, until Symbolic(); those in single precision are freed. `why` for
  /// View().
  PetscErrorCode Widen(const char *why);
  /// x = A^-1 b or A^-T b, `count` columns in the same space, LU_COLUMNS of them together, refined: by GMRES, one by
  /// one, where that is not enough. Solved() and Reached() tell the outcome; x is the best that was found.
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose);
  /// LuEngine::ApplyHalf() with one column, without refinement.
  PetscErrorCode SolveHalf(bool forward, const Scalar *b, Scalar *x);
#if !defined(PETSC_USE_COMPLEX)
  /// Of the matrix that was factored by Cholesky's method, pivots replaced or not: see inertia.cxx. Errors:
  /// PETSC_ERR_SUP naming how many were.
  PetscErrorCode Inertia(PetscInt *negative, PetscInt *zero, PetscInt *positive);
#endif
  /// The Schur complement of these values [schur x schur], on the host, in the order of `schur`.
  PetscErrorCode SchurBlock(Scalar *S);
  /// As Solve() with one column; `solve` has the complement's part of the right-hand side [schur], on the host, and
  /// leaves the solution of its system there.
  PetscErrorCode SolveSchur(const Scalar *b, Scalar *x, bool transpose,
                            const std::function<PetscErrorCode(Scalar *)> &solve);
  /// Tries solves, with a right-hand side that is hardly in the range of a singular matrix, and with one whose solution
  /// is of its size; with partial pivoting transposed ones, too. *good: they met the bound. *size: the largest error,
  /// and the first one's relative residual.
  PetscErrorCode Probe(bool *good, ResidualSize *size);

  /// Factors these values [nonzeros], on the host, with partial pivoting there; `threshold` as PivotedLu::Factor() has
  /// it, `why` for View(). *done: solves are those of these factors from now on. Errors: PETSC_ERR_MEM.
  PetscErrorCode Pivot(const Scalar *a, PetscReal threshold, const char *why, bool *done);
  /// Solves are those of the fronts again.
  void Unpivot()
  {
    if (pivoted_) report_ = report_of_fronts_;
    pivoted_.reset();
  }
  /// The engine with partial pivoting, if solves are its own.
  const PivotedEngine *Pivoted() const
  {
    return pivoted_.get();
  }
  /// The values that were factored, on the host; none without refinement.
  PetscErrorCode Values(std::vector<Scalar> *a)
  {
    PetscFunctionBegin;
    PetscCall(engine_->Values(a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The pattern that was analysed, with these values [nonzeros].
  CsrView Pattern(const Scalar *a) const
  {
    return CsrView{analysis_.rows, analysis_.rows, MatrixNonzeros(), analysis_.i.data(), analysis_.j.data(), a};
  }
  PetscInt SingularColumn() const
  {
    return singular_column_;
  } ///< a column that no row is left for; -1: none
  /// One line; fronts, memory and the last solve where the format is PETSC_VIEWER_ASCII_INFO_DETAIL.
  PetscErrorCode View(PetscViewer viewer) const;
  bool           tried_pivoting  = false; ///< with these values
  bool           tried_deferring = false; ///< with this order: Defer()
  bool           needed_pivoting = false; ///< the last factorization did, and was good with it
  bool           proven          = false; ///< solves were tried with factors of this analysis last, and were good

  /// Whether each column of the last solve met the bound, or was not a number.
  bool Solved() const
  {
    return solved_;
  }
  PetscReal Reached() const
  {
    return reached_;
  } ///< the largest backward error of its columns
  PetscReal Goal(bool transpose) const;
  PetscInt  Steps() const
  {
    return refined_;
  } ///< of refinement, the most of any column

  PetscInt Rows() const
  {
    return analysis_.rows;
  }
  PetscInt MatrixNonzeros() const
  {
    return static_cast<PetscInt>(analysis_.j.size());
  }
  PetscCount Nonzeros() const
  {
    return analysis_.plan.values;
  }
  PetscLogDouble Flops() const
  {
    return analysis_.plan.flops;
  }
  PetscLogDouble Bytes() const
  {
    return (engine_ ? engine_->Bytes() : 0) + (pivoted_ ? pivoted_->Bytes() : 0);
  }
  /// Where solves run.
  Space Where() const
  {
    return pivoted_ || !engine_ ? Space::Host : engine_->Where();
  }
  const LuReport &Report() const
  {
    return report_;
  }
  /// Of the fronts, where partial pivoting serves the solves, too.
  const LuReport &FrontsReport() const
  {
    return pivoted_ ? report_of_fronts_ : report_;
  }
  const std::vector<PetscInt> &ColumnOrder() const
  {
    return analysis_.column_order;
  }
  /// The row of the matrix that is eliminated k-th.
  PetscInt MatrixRow(PetscInt k) const
  {
    return analysis_.row_order[k];
  }

private:
  PetscErrorCode Arrange(const CsrView &A, Matching &&matching, std::vector<PetscInt> *row,
                         std::vector<PetscInt> *column, Orderer reorder, void *context);
  PetscErrorCode ArrangePairs(const CsrView &A, Pairing &&pairing, std::vector<PetscInt> *order, void *context);
  PetscErrorCode Analyse(const CsrView &A, std::vector<PetscInt> row, std::vector<PetscInt> column);
  PetscErrorCode AddUnknowns(const std::vector<PetscInt> &pivots, const std::vector<PetscInt> &from,
                             std::vector<PetscInt> *unknowns);
  PetscErrorCode DeferredLast(std::vector<PetscInt> *row, std::vector<PetscInt> *column) const;
  PetscErrorCode ProbeWith(const Scalar *b, Scalar *x, bool transpose, bool thorough, bool *good, ResidualSize *size);
  PetscErrorCode PlanIn(Space space);
  PetscErrorCode MakeEngine();
  /// The first of them in the order of elimination.
  PetscInt SchurFirst() const
  {
    return analysis_.tree.first[PetscMax(analysis_.tree.apart, 0)];
  }
  /// Where a variable of the complement is in the front, and the scales of its row and its column.
  struct SchurPlace {
    PetscInt  pivot;
    PetscReal row, column;
  };
  PetscErrorCode PlaceSchur();
  PetscErrorCode SchurOnce(const Scalar *b, Scalar *x, Scalar *v, bool transpose,
                           const std::function<PetscErrorCode(Scalar *)> &solve);
  PetscErrorCode ViewDetail(PetscViewer viewer) const;
  LuEngine      *Engine()
  {
    return pivoted_ ? pivoted_.get() : engine_.get();
  } ///< whose solves are taken

  LuAnalysis                     analysis_;
  std::vector<PetscInt>          pairing_; ///< the matching of LU in use; Defer() pairs some rows otherwise
  std::vector<PetscInt>          partner_; ///< Pairing; empty: no matching has paired unknowns
  std::unique_ptr<LuEngine>      engine_;
  std::unique_ptr<PivotedEngine> pivoted_;
  std::vector<SchurPlace>        schur_places_; ///< [schur] of the last SchurBlock()
  const char                    *why_pivoted_ = "", *why_wide_ = "";
  Space                          space_  = Space::Host;
  bool                           moved_  = false; ///< to the host
  bool                           single_ = false;
  LuReport                       report_, report_of_fronts_;
  PetscReal                      small_           = 0; ///< Numeric()
  PetscInt                       singular_column_ = -1;
  std::vector<PetscInt>          deferred_; ///< columns of the matrix that come last in the order: Defer()
  PetscInt                       refined_ = 0;
  PetscReal                      reached_ = 0;
  bool                           solved_  = true;
};

} // namespace sparsegpu::lu
