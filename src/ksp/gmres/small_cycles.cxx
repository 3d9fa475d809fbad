/// The host's side of cycles that the device runs by itself: it reads their records.
#include <algorithm>
#include "ksp/common/converged.hpp"
#include "ksp/common/versions.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

SmallControl SmallControlOf(KSP ksp, const Criterion &criterion, PetscInt steps)
{
  SmallControl control{};

  control.criterion  = criterion;
  control.breakdown  = GmresOf(ksp)->breakdown_tolerance;
  control.steps      = steps;
  control.happy_ends = ksp->normtype == KSP_NORM_NONE;
  return control;
}

SmallSolveOf SmallSolveFrom(KSP ksp, PetscInt column)
{
  const NormTest test = DefaultNormTest(ksp);

  return SmallSolveOf{column, ksp->rnorm, test.converged, test.diverged, test.from, ksp->its, ksp->max_it};
}

PetscErrorCode FollowSmallCycles(KSP ksp, SmallCycles *small, int group, PetscInt steps, bool reports, PetscInt *built)
{
  [[maybe_unused]] const PetscInt before = ksp->its;
  PetscInt                        used   = 0;

  PetscFunctionBegin;
  for (;;) {
    const PetscInt limit   = std::min(steps, ksp->max_it - ksp->its);
    Outcome        outcome = STEP_GOES_ON;
    PetscReal      norm;
    PetscInt       finished = 0;
    while (!ksp->reason && finished < limit && outcome == STEP_GOES_ON) {
      PetscCall(small->NextRecord(group, &outcome, &norm));
      PetscCall(TakeStep(ksp, outcome, norm, built));
      finished++;
      if (reports && !ksp->reason && finished < limit && outcome == STEP_GOES_ON) PetscCall(Report(ksp));
    }
    used += finished + 1;
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (ksp->reason) {
      if (reports && !PetscIsInfOrNanReal(ksp->rnorm)) PetscCall(Report(ksp));
      break;
    }
    if (small->RecordsEnd(used)) break;
    PetscCall(small->NextRecord(group, &outcome, &norm));
    PetscCall(TakeResidual(ksp, norm));
    PetscCheck(!ksp->reason == (outcome == STEP_GOES_ON), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The GPU has %s at a restart with the residual norm %g", ksp->reason ? "gone on" : "stopped",
               (double)norm);
    if (ksp->reason) break;
  }
  *built = 0;
  // a step has steps / 2 + 3 / 2 columns on the average, of two passes
  PetscCall(PetscLogGpuFlops((ksp->its - before) * small->FlopsEach(steps)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunSmallCycles(KSP ksp)
{
  Gmres        *gmres   = GmresOf(ksp);
  SmallControl  control = SmallControlOf(ksp, gmres->arnoldi.criterion, gmres->steps);
  const Scalar *b;
  Scalar       *x;

  PetscFunctionBegin;
  control.count    = 1;
  control.solve[0] = SmallSolveFrom(ksp, 0);
  PetscCall(gmres->system.Rhs(&b));
  PetscCall(gmres->system.Solution(&x));
  PetscCall(PetscLogEventBegin(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
  PetscCall(gmres->small.Launch(b, 0, x, 0, gmres->basis.view(), 0, control));
  if (gmres->small.active()) PetscCall(FollowSmallCycles(ksp, &gmres->small, 0, gmres->steps, true, &gmres->built));
  PetscCall(PetscLogEventEnd(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The cycles of all slots, whose residuals are known and their first vectors there, until each has ended or has no
/// more room for records.
PetscErrorCode ManySolve::RunSmall()
{
  SmallControl        control = SmallControlOf(ksp_, criterion_, steps_);
  const Scalar *const b       = b_->data() + static_cast<size_t>(first_) * b_->ld();
  Scalar *const       x       = x_->data() + static_cast<size_t>(first_) * x_->ld();
  const Dense         V{v_.rows, v_.places * v_.ld, v_.v};

  PetscFunctionBegin;
  control.count = slots_.count;
  for (int s = 0; s < slots_.count; s++) {
    columns_[slots_.column[s]].Enter(ksp_);
    control.solve[s] = SmallSolveFrom(ksp_, slots_.column[s]);
  }
  PetscCall(PetscLogEventBegin(OrthogonalizationEvent(), ksp_, nullptr, nullptr, nullptr));
  PetscCall(small_.Launch(b, b_->ld(), x, x_->ld(), V, static_cast<size_t>(v_.ld), control));
  for (int s = 0; s < slots_.count && small_.active(); s++) {
    const int   c      = slots_.column[s];
    ManyColumn *column = columns_ + c;
    PetscInt    built  = 0;
    column->Enter(ksp_);
    GmresOf(ksp_)->residual = cycles_[c].residual;
    PetscCall(WithColumn(ksp_, B_, X_, first_ + c,
                         [&] { return FollowSmallCycles(ksp_, &small_, s, steps_, false, &built); }));
    column->Leave(ksp_);
    cycles_[c].residual = GmresOf(ksp_)->residual;
  }
  if (small_.active()) slots_.count = 0;
  PetscCall(PetscLogEventEnd(OrthogonalizationEvent(), ksp_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
