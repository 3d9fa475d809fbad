/// The iteration. On the device of one process, or of each of several that reach each other's memory, the host launches
/// sweeps ahead and reads their norms later; the device stops by itself at the last sweep. Not if a monitor or a user's
/// convergence test needs every iterate. RecordLag and Forecast limit how far ahead. For small systems one launch runs
/// many sweeps: run.hpp.
#include <algorithm>
#include "ksp/jacobi/forecast.hpp"
#include "ksp/jacobi/sweeper.hpp"

namespace sparsegpu::jacobi
{

namespace
{
/// z = D^-1 b, for the shell below.
PetscErrorCode ApplyInverse(PC pc, Vec b, Vec z)
{
  void *context;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &context));
  PetscCall(VecPointwiseMult(z, static_cast<KSP>(context)->work[JACOBI_INVERSE], b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The test at the beginning, which also sets what later norms are compared with. From a nonzero guess
/// KSPConvergedDefault() compares residuals with the right-hand side, to which it would apply PCNONE for D^-1; changes
/// are compared with the first one.
PetscErrorCode FirstTest(KSP ksp, PetscReal norm)
{
  const PetscBool zero = ksp->guess_zero;
  const PC        pc   = ksp->pc;
  PC              shell;
  Mat             A, P;

  PetscFunctionBegin;
  if (zero || (JacobiOf(ksp)->test == JacobiTest::Residual && ksp->normtype != KSP_NORM_PRECONDITIONED)) {
    PetscCall((*ksp->converged)(ksp, 0, norm, &ksp->reason, ksp->cnvP));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCCreate(PetscObjectComm((PetscObject)ksp), &shell));
  PetscCall(PCSetType(shell, PCSHELL));
  PetscCall(PCShellSetContext(shell, ksp));
  PetscCall(PCShellSetApply(shell, ApplyInverse));
  PetscCall(PCShellSetApplyTranspose(shell, ApplyInverse));
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(PCSetOperators(shell, A, P));
  PetscCall(PCSetUp(shell));
  if (JacobiOf(ksp)->test == JacobiTest::Difference) ksp->guess_zero = PETSC_TRUE;
  ksp->pc                   = shell;
  const PetscErrorCode code = (*ksp->converged)(ksp, 0, norm, &ksp->reason, ksp->cnvP);
  ksp->pc                   = pc;
  ksp->guess_zero           = zero;
  PetscCall(code);
  PetscCall(PCDestroy(&shell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  PetscCall(KSPLogErrorHistory(ksp));
  PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPSolve_SparseGPUJacobi(KSP ksp)
{
  constexpr PetscInt LEAST = 2; // sweeps: one under way, one that waits
  Sweeper            sweeper;
  PetscInt           launched = 0, finished = 0;
  RecordLag          lag;
  Forecast           forecast;

  PetscFunctionBegin;
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  sweeper.ksp = ksp;
  ksp->its    = 0;
  PetscCall(InvertDiagonal(ksp));
  PetscCall(sweeper.Begin());
  // a residual is tested after the last sweep, too: by a sweep of which only the norm is used
  const bool     residual = sweeper.norm == JacobiNorm::Preconditioned || sweeper.norm == JacobiNorm::Unpreconditioned;
  const PetscInt last     = ksp->max_it + residual;
  const bool     together = sweeper.Together();
  const bool     late     = sweeper.space == Space::Device && (sweeper.size == 1 || together) && MayReadNormsLate(ksp);
  if (late) PetscCall(sweeper.PlanRuns());
  JacobiOf(ksp)->runs = sweeper.runs;
  while (!ksp->reason && finished < last) {
    PetscInt  ahead = 1; // the first norm sets what the others are tested with
    PetscReal norm;
    if (late && finished > 0) ahead = std::min(together ? Ranks::AHEAD : lag.ahead(), std::max(LEAST, forecast.Left()));
    if (finished > 0) PetscCall(sweeper.LaunchRuns(finished, last, forecast.Left(), &launched));
    if (sweeper.runs && finished > 0) ahead = 0;
    for (; launched < std::min(last, finished + ahead); launched++) PetscCall(sweeper.Launch(launched));
    PetscCall(sweeper.AwaitNorm(finished, &norm));
    if (late && !sweeper.runs && !together) lag.RecordRead(launched < last && sweeper.Idle());
    if (late) forecast.Add(norm, sweeper.test.converged);
    ksp->its   = sweeper.Counted(finished);
    ksp->rnorm = norm;
    sweeper.SetCurrent();
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(EndWithNorm(ksp, norm));
      break;
    }
    PetscCall(Report(ksp));
    if (finished == 0) {
      PetscCall(FirstTest(ksp, norm));
      if (late) sweeper.test = DefaultNormTest(ksp);
    } else {
      PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
    }
    finished++;
  }
  if (!ksp->reason && sweeper.norm == JacobiNorm::None) {
    ksp->its = ksp->max_it;
    sweeper.SetCurrent();
    PetscCall(Report(ksp));
    ksp->reason = KSP_CONVERGED_ITS;
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(sweeper.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::jacobi
