/// The iteration on arrays, and what all solves tell of their iterations. On the device of one process the host
/// launches iterations ahead and reads their norms later; the device stops by itself at the last one. Not if a monitor
/// or a user's convergence test needs every iterate, nor around a preconditioner that PCApply() applies.
#include <algorithm>
#include <limits>
#include "ksp/bcgs/bcgs.hpp"
#include "ksp/common/versions.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode TakeOutcome(KSP ksp, PetscInt k, const Told &told)
{
  PetscFunctionBegin;
  if (told.outcome == NOT_FINITE || PetscIsInfOrNanReal(told.norm)) {
    PetscCall(EndWithNorm(ksp, told.outcome == NOT_FINITE ? std::numeric_limits<PetscReal>::quiet_NaN() : told.norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (told.outcome == BREAKS_DOWN) {
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscCall(PetscInfo(ksp, "The preconditioned operator makes a vector zero: it is singular\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->its = k + 1;
  if (told.outcome == EXACT) { // without a convergence test, as PETSc's bcgs
    ksp->rnorm  = 0;
    ksp->reason = KSP_CONVERGED_RTOL;
    PetscCall(KSPLogResidualHistory(ksp, 0));
    PetscCall(KSPMonitor(ksp, ksp->its, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (told.outcome == RESTARTED)
    PetscCall(
        PetscInfo(ksp, "Breakdown in iteration %" PetscInt_FMT ": restarted with another shadow residual\n", ksp->its));
  const bool seen = ksp->normtype != KSP_NORM_NONE && ksp->chknorm <= ksp->its; // else PETSc's tells the last one
  PetscCall(TakeNorm(ksp, ksp->its, seen ? told.norm : ksp->rnorm));
  if (!ksp->reason && told.outcome == EXHAUSTED) {
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscCall(PetscInfo(ksp, "Breakdown, and other shadow residuals do not help\n"));
  }
  PetscCheck(ksp->reason || told.outcome != STOPS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The GPU has stopped at the residual norm %g, which is not the end", (double)told.norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode SolveOnArrays(KSP ksp)
{
  Bcgs          *bcgs     = BcgsOf(ksp);
  ArraySolve    *arrays   = &bcgs->arrays;
  const PetscInt last     = std::max<PetscInt>(1, ksp->max_it); // PETSc's takes a step before it looks at the limit
  const bool     late     = arrays->space() == Space::Device && !arrays->outside() && IteratesAreUnseen(ksp);
  const bool     together = arrays->together();
  PetscInt       launched = 0, finished = 0;
  PetscReal      norm;
  Told           told;

  PetscFunctionBegin;
  PetscCall(arrays->Start(&norm));
  const bool none = ksp->normtype == KSP_NORM_NONE, finite = !PetscIsInfOrNanReal(norm);
  if (finite || none) PetscCall(TakeNorm(ksp, 0, none ? 0 : norm));
  if (!finite) { // also where a preconditioner has failed on another rank
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (late) {
    arrays->Test(DefaultNormTest(ksp));
    arrays->LaunchAheadUntil(last);
  }
  if (bcgs->small.active()) {
    const PetscLogDouble flops = 4.0 * arrays->system().nonzeros() + 30.0 * arrays->system().rows();
    PetscCall(bcgs->small.Run(ksp, last, flops, &finished,
                              [&](PetscInt k, const Told &outcome) { return TakeOutcome(ksp, k, outcome); }));
  }
  launched = finished;
  while (!ksp->reason && finished < last) {
    const PetscInt ahead = !late ? 1 : together ? Ranks::AHEAD : bcgs->lag.ahead();
    const PetscInt end   = std::min(last, finished + ahead);
    for (; launched < end; launched++) PetscCall(arrays->Launch(launched));
    if (launched < last) PetscCall(arrays->LaunchAhead(launched));
    PetscCall(arrays->Await(finished, &told));
    if (late && !together) bcgs->lag.RecordRead(launched < last && arrays->Idle(launched - 1));
    PetscCall(TakeOutcome(ksp, finished++, told));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPSolve_SparseGPUBCGS(KSP ksp)
{
  Bcgs     *bcgs = BcgsOf(ksp);
  PetscBool scales;

  PetscFunctionBegin;
  PetscCall(ScalesDiagonal(ksp, &scales));
  PetscCheck(!scales, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "%s does not support diagonal scaling",
             ((PetscObject)ksp)->type_name);
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  ksp->its  = 0;
  bcgs->lag = RecordLag();
  if (bcgs->ell > 1) {
    bcgs->way = "BiCGStab(l) on vectors of PETSc";
    PetscCall(SolveEll(ksp));
    if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bcgs->arrays.Begin(ksp));
  PetscCall(bcgs->small.Begin(ksp, &bcgs->arrays, bcgs->small_mode));
  const bool arrays = bcgs->arrays.active(), outside = arrays && bcgs->arrays.outside();
  bcgs->way =
      bcgs->small.active() ? "many iterations in one launch on the GPU"
      : !arrays            ? "on vectors of PETSc"
      : bcgs->arrays.space() == Space::Device
          ? (bcgs->arrays.together() ? (outside ? "six or more kernels an iteration on each GPU, and the preconditioner"
                                                : "six or more kernels an iteration on each GPU")
             : outside               ? "four kernels an iteration on the GPU, and the preconditioner"
             : bcgs->arrays.late()   ? "three kernels an iteration on the GPU"
                                     : "four kernels an iteration on the GPU")
      : outside ? "four passes an iteration on the host, and the preconditioner"
                : "four passes an iteration on the host";
  if (arrays) {
    PetscCall(SolveOnArrays(ksp));
    PetscCall(bcgs->arrays.End());
  } else {
    PetscCall(SolveOnVectors(ksp));
  }
  if (!ksp->reason || (ksp->reason > 0 && ksp->its > ksp->max_it)) ksp->reason = KSP_DIVERGED_ITS; // a limit of 0
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
