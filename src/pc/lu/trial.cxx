/// Which way follows which: fronts with rows as they are, with rows matched, with poor pivots last; partial pivoting.
#include "pc/lu/trial.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// A poor factorization is replaced by LU with rows matched for these values; so is Cholesky's, whose pivots stay in
/// their tiles, rows with columns. *changed: the analysis is another one.
PetscErrorCode Replace(Mat F, const CsrView &A, Reordering *reordering, bool *changed)
{
  DirectFactor    *factor = DirectOf(F);
  const DirectKind before = factor->kind;

  PetscFunctionBegin;
  factor->kind = DirectKind::LU;
  PetscCall(factor->MatchAgain(A, Reorder, reordering, changed));
  if (!*changed) factor->kind = before;
  if (*changed && before == DirectKind::Cholesky) factor->gave_way++;
  if (*changed)
    PetscCall(PetscInfo(F, before == DirectKind::Cholesky
                               ? "Fronts have no pivots for L D L^T: LU with matched rows\n"
                               : "The pivots are poor: rows are matched for these values\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// In single precision, with the order as it is: what that is not good enough for is left to full precision, which has
/// more ways.
PetscErrorCode Trial::InSingle(Quality *quality)
{
  PetscFunctionBegin;
  PetscCall(Attempt(F_, a_, false, false, quality));
  if (*quality == Quality::Good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(F_, "Single precision is not good enough: factors in full precision\n"));
  PetscCall(factor_->Widen("refinement did not reach the bound, or slowly"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns with poor pivots go to the end of the order, once for each order, as long as that makes factors better.
/// *full: all thresholds have been tried in the end.
PetscErrorCode Trial::Improve(bool *full, Quality *quality)
{
  constexpr int       ROUNDS = 3;
  constexpr PetscReal WORTH  = static_cast<PetscReal>(1e-2); // of the growth before
  const auto          growth = [&] { return factor_->Report().growth; };
  const auto          done   = [&] { return *quality == Quality::Good && growth() <= GROWTH; };
  LuArrangement       best;
  PetscReal           least = growth();
  bool                moved = false;

  PetscFunctionBegin;
  *full = false;
  if (factor_->tried_deferring || done() || !(factor_->kind == DirectKind::LU || factor_->Paired()) ||
      !factor_->Report().finite)
    PetscFunctionReturn(PETSC_SUCCESS);
  factor_->tried_deferring = true;
  PetscCall(TakeRows());
  PetscCall(factor_->GetArrangement(&best));
  for (int round = 0; round < ROUNDS && !done(); round++) {
    PetscInt count;
    Quality  now;
    PetscCall(factor_->Defer(matrix_->csr, *quality == Quality::Good, &count));
    if (count == 0) break;
    PetscCall(PetscInfo(F_, "%" PetscInt_FMT " columns moved to the end of the order: poor pivots\n", count));
    PetscCall(Attempt(F_, a_, false, true, &now));
    const bool reached = now == Quality::Good && growth() <= GROWTH;
    moved              = !reached && (now < *quality || (now == *quality && !(growth() < WORTH * least)));
    if (moved) continue;
    *quality = now;
    least    = growth();
    PetscCall(factor_->GetArrangement(&best));
  }
  if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(F_, "That makes factors no better: back to the order before\n"));
  PetscCall(factor_->Restore(matrix_->csr, best));
  PetscCall(Attempt(F_, a_, false, false, quality));
  *full = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where nothing else is to be tried, poor pivots are seen with the first threshold, before others hide them.
PetscErrorCode Trial::WithOrder(bool alternative, Quality *quality)
{
  const bool brief = !alternative && !factor_->tried_deferring && MayDefer();
  bool       full  = !brief;

  PetscFunctionBegin;
  PetscCall(Attempt(F_, a_, alternative, brief, quality));
  if (!alternative || *quality == Quality::Good) PetscCall(Improve(&full, quality));
  if (brief && !full && *quality < Quality::Good) PetscCall(Attempt(F_, a_, false, false, quality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A symmetric factorization whose diagonal has no good pivots: pivots of order 1 and 2, chosen within tiles, with the
/// order as it is, then with unknowns paired by a matching for these values.
PetscErrorCode Trial::Pairs(Quality *quality)
{
  const bool    matches = factor_->options.matching != 2;
  LuArrangement best;
  Quality       most = *quality, now = *quality; // of the arrangements `best` and in use
  bool          changed;

  PetscFunctionBegin;
  if (!factor_->MayPair()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeRows());
  PetscCall(factor_->GetArrangement(&best));
  const auto keep = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (now < most) PetscFunctionReturn(PETSC_SUCCESS);
    most = now;
    PetscCall(factor_->GetArrangement(&best));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (!factor_->Paired()) {
    PetscCall(PetscInfo(F_, "The diagonal has no pivots: pivots of order 1 and 2\n"));
    PetscCall(factor_->ChoosePairs());
    PetscCall(WithOrder(matches, &now));
    PetscCall(keep());
  }
  if (most != Quality::Good && matches) {
    PetscCall(factor_->PairAgain(matrix_->csr, reordering_, &changed));
    if (changed) {
      PetscCall(PetscInfo(F_, "The pivots are poor: unknowns are paired for these values\n"));
      PetscCall(WithOrder(false, &now));
      PetscCall(keep());
    }
  }
  *quality = most;
  if (now == most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(F_, "That makes factors no better: back to what was before\n"));
  PetscCall(factor_->Restore(matrix_->csr, best));
  PetscCall(Attempt(F_, a_, false, false, quality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Static pivoting within fronts, with the rows as they are, then matched for these values.
PetscErrorCode Trial::Fronts(Quality *quality)
{
  Quality matched;
  bool    changed;

  const bool alternative = factor_->options.matching != 2 && !factor_->Matched();

  PetscFunctionBegin;
  left_ = false;
  PetscCall(WithOrder(alternative, quality));
  if (*quality != Quality::Good) PetscCall(Pairs(quality));
  if (*quality == Quality::Good || factor_->options.matching == 2) {
    factor_->gave_way = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeRows());
  PetscCall(factor_->GetArrangement(&before_));
  PetscCall(Replace(F_, matrix_->csr, reordering_, &changed));
  if (!changed && alternative && *quality == Quality::Bad)
    PetscCall(WithOrder(false, quality)); // it may not have been tried
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithOrder(false, &matched));
  left_ = matched < *quality;
  if (!left_) *quality = matched;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Partial pivoting; its factors stay in use if they are better.
PetscErrorCode Trial::Pivoted(const char why[], Quality *quality)
{
  Quality pivoted;

  PetscFunctionBegin;
  PetscCall(TakeRows());
  PetscCall(AttemptPivoted(F_, matrix_->csr, why, &pivoted));
  factor_->needed_pivoting = pivoted == Quality::Good;
  if (pivoted > *quality)
    *quality = pivoted;
  else
    factor_->Unpivot();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the last values needed partial pivoting, fronts are tried once, before all other ways.
PetscErrorCode Trial::Run(Quality *quality)
{
  const LuOptions  &options = factor_->options;
  const char *const WHY     = "static pivoting within fronts did not reach the bound";

  PetscFunctionBegin;
  *quality = Quality::Bad;
  if (options.pivoted == 1) {
    PetscCall(Pivoted("asked for", quality));
    if (*quality != Quality::Bad) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (factor_->InSingle()) {
    PetscCall(InSingle(quality));
    if (*quality == Quality::Good) {
      factor_->gave_way = 0;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (factor_->needed_pivoting && options.pivoted == 0) {
    PetscCall(Attempt(F_, a_, false, true, quality));
    factor_->needed_pivoting = *quality != Quality::Good;
    if (*quality == Quality::Good) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Pivoted(WHY, quality));
    if (*quality == Quality::Good) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Fronts(quality));
  // slow factors reach the bound, if they are still there; where no row is left for a column, there is no pivot either
  const bool more = *quality < Quality::Slow || left_;
  if (more && options.pivoted == 0 && factor_->SingularColumn() < 0) PetscCall(Pivoted(WHY, quality));
  if (!left_ || factor_->Pivoted()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(F_, "Matched rows are no better: back to rows as they were\n"));
  PetscCall(factor_->Restore(matrix_->csr, before_));
  factor_->gave_way = 0;
  PetscCall(Attempt(F_, a_, false, false, quality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
