/// Partial pivoting on the host, and what -ksp_view says of a factorization.
#include <algorithm>
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

PetscErrorCode DirectFactor::Pivot(const Scalar *a, PetscReal threshold, const char *why, bool *done)
{
  LuPolicy       policy;
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  tried_pivoting  = true;
  policy.exchange = threshold;
  why_pivoted_    = why;
  if (!pivoted_) {
    report_of_fronts_ = report_;
    PetscCallCXX(pivoted_ = std::make_unique<PivotedEngine>());
    error = pivoted_->Symbolic(analysis_);
  }
  if (!error) error = pivoted_->Numeric(a, policy, &report_);
  if (error) Unpivot(); // half a factorization: no solve may take it
  PetscCall(error);
  *done = pivoted_->Outcome() == PivotedOutcome::Done;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::View(PetscViewer viewer) const
{
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "sparsegpu %s on %s%s%s%s%s%s%s%s\n", kind == DirectKind::LU || pivoted_ ? "LU" : "Cholesky",
      Where() == Space::Host ? "the host" : "cuda",
      !moved_ || pivoted_ ? ""
      : options.host == 1 ? ", as asked for"
                          : ", predicted to be faster than cuda",
      analysis_.paired && !pivoted_ ? ", with pivots of order 1 and 2" : "",
      kind == wanted ? "" : ", instead of Cholesky, for which fronts had no pivots",
      single_        ? ", in single precision"
      : why_wide_[0] ? ", in full precision instead of single: "
                     : "",
      why_wide_, pivoted_ ? ", by columns with partial pivoting: " : "", pivoted_ ? why_pivoted_ : ""));
  if (!ordered_by.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "ordered by " MATORDERINGLEASTFILL ": %s\n", ordered_by.c_str()));
  if (!schur.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "a Schur complement of order %" PetscInt_FMT " is left\n",
                                     static_cast<PetscInt>(schur.size())));
  const PetscLogDouble spilled = engine_ && !pivoted_ ? engine_->SpilledBytes() : 0;
  if (spilled > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%.4g MB of factors in the host's memory, where solves read them, %s\n",
                                     spilled / 1e6,
                                     options.spill == 1 ? "as asked for" : "as cuda's does not suffice"));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(ViewDetail(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::ViewDetail(PetscViewer viewer) const
{
  constexpr PetscInt limits[]  = {16, 64, 160, 512, PETSC_MAX_INT};
  PetscInt           counts[5] = {0};

  PetscFunctionBegin;
  for (PetscInt f = 0; f < analysis_.tree.Fronts(); f++)
    ++counts[std::lower_bound(limits, limits + 4, analysis_.tree.Pivots(f) + analysis_.tree.Others(f)) - limits];
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " fronts, the largest of order %" PetscInt_FMT
                                   "; of order up to 16, 64, 160, 512, above: %" PetscInt_FMT " %" PetscInt_FMT
                                   " %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n",
                                   analysis_.tree.Fronts(), analysis_.plan.largest, counts[0], counts[1], counts[2],
                                   counts[3], counts[4]));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%.4g entries of the factors, %.3g times the matrix's, %.2g %% of them zeros; %.4g flops; %.3g MB\n",
      (double)analysis_.plan.values, (double)analysis_.plan.values / PetscMax(1.0, (double)analysis_.j.size()),
      100 * (analysis_.plan.Half() ? 1.0 : 2.0) * (double)analysis_.tree.zeros /
          PetscMax(1.0, (double)analysis_.plan.values),
      analysis_.plan.flops, Bytes() / 1e6));
  PetscCall(PetscViewerASCIIPrintf(viewer, "rows %s; pivots below %.2g of the largest entry are replaced\n",
                                   !analysis_.matched ? "as they were"
                                   : analysis_.paired ? "paired and scaled by a matching"
                                                      : "matched and scaled",
                                   (double)small_));
  if (!deferred_.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " columns moved to the end of the order: poor pivots\n",
                                     static_cast<PetscInt>(deferred_.size())));
  if (pivoted_)
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "partial pivoting: %.4g entries of the factors, %.4g flops, %" PetscInt_FMT " diagonal blocks, growth %.2g\n",
        (double)pivoted_->Entries(), 2 * pivoted_->Multiplications(), pivoted_->Blocks(), (double)report_.growth));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " pivots replaced; the last solve took %" PetscInt_FMT
                                   " steps of refinement to the backward error %.2g\n",
                                   report_.perturbed, refined_, (double)reached_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
