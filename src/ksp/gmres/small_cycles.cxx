/// The host's side of cycles that the device runs by itself: it reads their records.
#include <algorithm>
#include "ksp/common/converged.hpp"
#include "ksp/common/versions.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode RunSmallCycles(KSP ksp)
{
  Gmres         *gmres = GmresOf(ksp);
  const NormTest test  = DefaultNormTest(ksp);
  SmallControl   control{};
  PetscInt       used = 0;

  PetscFunctionBegin;
  control.criterion   = gmres->arnoldi.criterion;
  control.residual    = ksp->rnorm;
  control.converged   = test.converged;
  control.diverged    = test.diverged;
  control.breakdown   = gmres->breakdown_tolerance;
  control.tested_from = test.from;
  control.iteration   = ksp->its;
  control.last        = ksp->max_it;
  control.steps       = gmres->steps;
  control.happy_ends  = ksp->normtype == KSP_NORM_NONE;
  PetscCall(PetscLogEventBegin(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
  PetscCall(gmres->small.Launch(&gmres->system, &gmres->basis, control));
  while (gmres->small.active()) {
    const PetscInt limit   = std::min(gmres->steps, ksp->max_it - ksp->its);
    Outcome        outcome = STEP_GOES_ON;
    PetscReal      norm;
    PetscInt       finished = 0;
    while (!ksp->reason && finished < limit && outcome == STEP_GOES_ON) {
      PetscCall(gmres->small.NextRecord(&outcome, &norm));
      PetscCall(TakeStep(ksp, outcome, norm, &gmres->built));
      finished++;
      if (!ksp->reason && finished < limit && outcome == STEP_GOES_ON) PetscCall(Report(ksp));
    }
    used += finished + 1;
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (ksp->reason) {
      if (!PetscIsInfOrNanReal(ksp->rnorm)) PetscCall(Report(ksp));
      break;
    }
    if (used + gmres->steps + 1 > SMALL_RECORDS) break;
    PetscCall(gmres->small.NextRecord(&outcome, &norm));
    PetscCall(TakeResidual(ksp, norm));
    PetscCheck(!ksp->reason == (outcome == STEP_GOES_ON), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The GPU has %s at a restart with the residual norm %g", ksp->reason ? "gone on" : "stopped",
               (double)norm);
    if (ksp->reason) break;
  }
  gmres->built = 0;
  // a step has steps / 2 + 3 / 2 columns on the average, of two passes
  PetscCall(PetscLogGpuFlops((ksp->its - control.iteration) *
                             (2.0 * gmres->system.nonzeros() + (2.0 * gmres->steps + 6.0) * gmres->system.rows())));
  PetscCall(PetscLogEventEnd(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
