/// The cycles. On the device of one process, or of each of several that reach each other's memory, the host launches
/// steps ahead and reads residual norms later; the device stops by itself at the last step. Not if a monitor or a
/// user's convergence test needs every iterate. For small systems one launch runs many cycles.
#include <algorithm>
#include <petsc/private/matimpl.h>
#include "ksp/common/converged.hpp"
#include "ksp/common/versions.hpp"
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode Report(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->reason) PetscCall(GmresOf(ksp)->system.Publish());
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  PetscCall(KSPLogErrorHistory(ksp));
  PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeResidual(KSP ksp, PetscReal norm)
{
  Gmres *gmres = GmresOf(ksp);

  PetscFunctionBegin;
  gmres->built = 0;
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->rnorm > 0 && PetscAbsReal(norm - ksp->rnorm) > gmres->breakdown_tolerance * gmres->residual) {
    PetscCall(PetscInfo(ksp, "The residual norm at the restart is %g, by the recurrence %g\n", (double)norm,
                        (double)ksp->rnorm));
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  gmres->residual = ksp->rnorm = norm;
  PetscCall(Report(ksp));
  if (norm == 0)
    ksp->reason = KSP_CONVERGED_ATOL;
  else
    PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginCycle(KSP ksp)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(ComputeResidual(ksp, &norm));
  PetscCall(TakeResidual(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeStep(KSP ksp, Outcome outcome, PetscReal norm, PetscInt *steps)
{
  PetscFunctionBegin;
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (AddsColumn(outcome)) ++*steps;
  ksp->its++;
  ksp->rnorm = norm;
  if (outcome == STEP_HAPPY && ksp->normtype == KSP_NORM_NONE && !GmresOf(ksp)->arnoldi.narrow()) {
    ksp->reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (outcome == STEP_HAPPY && ksp->its < ksp->max_it) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(outcome != STEP_STOPS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The GPU has stopped at the residual norm %g, which is not the end", (double)norm);
  if (outcome == STEP_BREAKDOWN) ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Launches steps up to the number `end`.
static PetscErrorCode LaunchSteps(KSP ksp, bool pipelined, PetscInt *launched, PetscInt end, Outcome *outcome,
                                  PetscReal *norm)
{
  Gmres *gmres = GmresOf(ksp);

  PetscFunctionBegin;
  for (; *launched < end; ++*launched) {
    if (pipelined && gmres->arnoldi.ranks()) gmres->arnoldi.GateProducts(*launched);
    PetscCall(ApplyOperator(ksp, *launched));
    PetscCall(PetscLogEventBegin(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
    if (pipelined)
      PetscCall(gmres->arnoldi.LaunchStep(*launched));
    else
      PetscCall(gmres->arnoldi.Step(*launched, outcome, norm));
    PetscCall(PetscLogEventEnd(OrthogonalizationEvent(), ksp, nullptr, nullptr, nullptr));
    PetscCall(gmres->basis.Changed(gmres->arnoldi.Slot(*launched + 1)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The correction of a cycle to the solution, and what the next one keeps of it. `steps`: it has made some.
static PetscErrorCode EndCycle(KSP ksp, bool steps, Outcome outcome)
{
  Gmres     *gmres = GmresOf(ksp);
  const bool whole = gmres->built == gmres->steps && outcome == STEP_GOES_ON;

  PetscFunctionBegin;
  if (PetscIsInfOrNanReal(ksp->rnorm)) PetscFunctionReturn(PETSC_SUCCESS); // the last good iterate stays
  if (ksp->reason > 0 && gmres->arnoldi.narrow() && ksp->normtype != KSP_NORM_NONE)
    ksp->reason = KSP_CONVERGED_ITERATING; // the true residual is to decide
  else if (!ksp->reason && ksp->its >= ksp->max_it)
    ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(AddCorrection(ksp, gmres->built));
  gmres->built = 0;
  if (gmres->deflated.most() > 0 && whole && !ksp->reason)
    PetscCall(gmres->deflated.Renew(PetscObjectComm((PetscObject)ksp), &gmres->arnoldi, gmres->steps, &gmres->basis,
                                    PreconditionedOf(gmres)));
  else
    gmres->deflated.Forget();                       // what it knows of the residual is that of a whole cycle
  if (steps && ksp->reason) PetscCall(Report(ksp)); // else the next cycle tells of the true residual
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Steps up to number `limit`, from those that are kept on, and the correction of all to the solution.
static PetscErrorCode RunCycle(KSP ksp, PetscInt limit)
{
  Gmres         *gmres     = GmresOf(ksp);
  Arnoldi       *arnoldi   = &gmres->arnoldi;
  const bool     pipelined = arnoldi->CanPipeline() && MayReadNormsLate(ksp);
  const PetscInt kept      = gmres->deflated.kept();
  PetscInt       launched = kept, finished = kept;
  Outcome        outcome = STEP_GOES_ON;
  PetscReal      norm    = 0;
  PetscBool      unseen  = PETSC_FALSE;

  PetscFunctionBegin;
  gmres->built = kept;
  if (pipelined) PetscCall(ApplicationsAreUnseen(ksp->pc, &unseen));
  if (pipelined) {
    const NormTest test = DefaultNormTest(ksp);
    PetscCall(arnoldi->BeginPipeline(ksp->rnorm, test.converged, test.diverged,
                                     kept + std::max<PetscInt>(0, test.from - ksp->its - 1)));
  } else {
    PetscCall(arnoldi->Begin(ksp->rnorm));
  }
  while (!ksp->reason && finished < limit && outcome == STEP_GOES_ON) {
    const PetscInt together = gmres->system.active() ? Ranks::AHEAD : Ranks::AHEAD_OUTSIDE;
    const PetscInt ahead    = !unseen ? 1 : arnoldi->ranks() ? together : gmres->lag.ahead();
    PetscCall(LaunchSteps(ksp, pipelined, &launched, std::min(limit, finished + ahead), &outcome, &norm));
    if (pipelined) {
      PetscCall(arnoldi->AwaitStep(finished, &outcome, &norm));
      gmres->lag.RecordRead(launched < limit && arnoldi->Ended(launched - 1));
      if (outcome == STEP_AGAIN && arnoldi->narrow()) {
        PetscCall(arnoldi->Rewind(finished));
        outcome  = STEP_GOES_ON;
        launched = finished;
        continue;
      }
      if (outcome == STEP_AGAIN) {
        PetscCall(arnoldi->StepAgain(finished, &outcome, &norm));
        launched = finished + 1;
      }
    }
    PetscCall(TakeStep(ksp, outcome, norm, &gmres->built));
    gmres->known = gmres->built;
    finished++;
    if (!ksp->reason && finished < limit && outcome == STEP_GOES_ON) PetscCall(Report(ksp));
  }
  if (arnoldi->ranks()) arnoldi->ranks()->Gate(nullptr, 0);
  PetscCall(EndCycle(ksp, finished > kept, outcome));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The restart that one cycle suggests: with tau its reduction of the residual, eps the one asked for and delta the
/// mean length of a row, (1 + delta) (log eps / log tau - 1) - 3 - delta. Liang, master's thesis, HUST 2012.
static PetscErrorCode SuggestRestart(KSP ksp, PetscReal tau, PetscInt *restart)
{
  constexpr PetscReal LEAST = 5, MOST = 200;
  const PetscReal     room = 3 * static_cast<PetscReal>(GmresOf(ksp)->deflation); // for steps beside what is kept
  Mat                 A;
  MatInfo             info;
  PetscInt            rows;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  if (!(tau > 0 && tau < 1) || !(ksp->rtol > 0) || !A->ops->getinfo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(A, &rows, nullptr));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  const PetscReal delta = rows ? static_cast<PetscReal>(info.nz_used) / rows : 0;
  const PetscReal m     = (1 + delta) * (PetscLogReal(ksp->rtol) / PetscLogReal(tau) - 1) - 3 - delta;
  *restart              = static_cast<PetscInt>(std::min(MOST, std::max({LEAST, room, m})));
  PetscCall(PetscInfo(ksp, "A cycle reduced the residual to %g of what it was: restart %" PetscInt_FMT "\n",
                      (double)tau, *restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for cycles of `steps` steps.
static PetscErrorCode Reserve(KSP ksp, PetscInt steps)
{
  Gmres     *gmres       = GmresOf(ksp);
  const bool device_only = gmres->system.active() && gmres->system.copies();

  PetscFunctionBegin;
  gmres->steps = std::max<PetscInt>(1, std::min({steps, ksp->max_it, PETSC_MAX_INT - 1}));       // one vector more
  const PetscInt deflation = ksp->calc_sings ? 0 : std::min(gmres->deflation, gmres->steps / 2); // else H is not that
  PetscCall(gmres->small.Begin(ksp, gmres->system, gmres->steps, deflation > 0 ? SmallMode::Off : gmres->small_mode));
  const bool narrow = gmres->single_basis && !gmres->small.active() && sizeof(PetscReal) > sizeof(float);
  PetscCall(gmres->basis.Allocate(ksp->work[0], narrow ? 2 : gmres->steps + 1, device_only));
  if (PreconditionedOf(gmres)) PetscCall(gmres->preconditioned.Allocate(ksp->work[0], gmres->steps));
  PetscCall(gmres->deflated.Allocate(ksp->work[0], deflation, !PreconditionedOf(gmres), device_only));
  PetscCall(gmres->deflated.Reserve(gmres->steps, gmres->basis.space()));
  PetscCall(gmres->arnoldi.Allocate(PetscObjectComm((PetscObject)ksp), &gmres->basis, gmres->steps, narrow));
  Ranks *const ranks = gmres->system.ranks();
  const bool   there = ranks && ranks->active() && ranks->blocks().space == gmres->basis.space();
  gmres->arnoldi.SumOver(there ? ranks : nullptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunCycles(KSP ksp)
{
  Gmres *gmres = GmresOf(ksp);
  bool   tune  = gmres->restart_auto;

  PetscFunctionBegin;
  while (!ksp->reason || (ksp->rnorm == -1 && ksp->reason == KSP_DIVERGED_PC_FAILED)) {
    PetscCall(BeginCycle(ksp));
    if (ksp->reason) break;
    const PetscReal before = ksp->rnorm;
    const bool      small  = gmres->small.active() && !tune && ksp->its < ksp->max_it;
    if (small) PetscCall(RunSmallCycles(ksp));
    if (!small || !gmres->small.active()) // or not any more
      PetscCall(RunCycle(ksp, std::min(gmres->steps, gmres->deflated.kept() + ksp->max_it - ksp->its)));
    ksp->guess_zero = PETSC_FALSE; // the next residual is that of the solution so far
    if (tune && !ksp->reason) {
      PetscInt restart = gmres->steps;
      PetscCall(SuggestRestart(ksp, ksp->rnorm / before, &restart));
      PetscCall(Reserve(ksp, restart));
      tune = false;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_SparseGPUGMRES(KSP ksp)
{
  constexpr PetscReal KEPT[]     = {KEPT_PART * KEPT_PART, 0.5, PETSC_MAX_REAL}; // by Refinement
  Gmres              *gmres      = GmresOf(ksp);
  const PetscBool     guess_zero = ksp->guess_zero;
  PetscMPIInt         size;
  Refinement          refinement;

  PetscFunctionBegin;
  PetscCall(GetRefinement(ksp, &refinement));
  if (gmres->flexible) {
    PetscBool scales;
    PetscCall(ScalesDiagonal(ksp, &scales));
    PetscCheck(!scales, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
               "The flexible variant of %s does not support diagonal scaling", ((PetscObject)ksp)->type_name);
  }
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  ksp->its        = 0;
  ksp->rnorm      = -1; // no cycle before
  gmres->lag      = RecordLag();
  gmres->together = nullptr;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (!ksp->reason || size > 1) PetscCall(gmres->system.Begin(ksp)); // else the preconditioner has failed
  PetscCall(Reserve(ksp, gmres->restart));
  gmres->arnoldi.criterion       = Criterion{};
  gmres->arnoldi.criterion.kept  = KEPT[static_cast<int>(refinement)];
  gmres->arnoldi.criterion.happy = gmres->happy_tolerance;
  // what is kept is never made orthogonal again, and what it lost would be passed on from cycle to cycle
  if (gmres->deflated.most() > 0)
    gmres->arnoldi.criterion.kept = std::max(gmres->arnoldi.criterion.kept, KEPT_BESIDE_SPACE);
  if (gmres->arnoldi.narrow()) gmres->arnoldi.criterion.fallen = NARROW_LOSS / ORTHOGONALITY;
  gmres->arnoldi.keeps_operator = ksp->calc_sings;
  PetscCall(RunCycles(ksp));
  PetscCall(gmres->system.End());
  ksp->guess_zero = guess_zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
