/// The iteration on arrays, and what all solves tell of their iterations. On devices the host
/// launches iterations ahead and reads their norms later; the device stops by itself at the last one. Not if a monitor
/// or a user's convergence test needs every iterate.
#include <algorithm>
#include <limits>
#include "ksp/cg/cg.hpp"
#include "ksp/common/versions.hpp"

namespace sparsegpu::cg
{

namespace
{
/// KSPSetConvergedNegativeCurvature(), where this PETSc has it.
template <class Solver> auto NegativeCurvatureConverges(const Solver *ksp, int)
    -> decltype(static_cast<bool>(ksp->converged_neg_curve))
{
  return static_cast<bool>(ksp->converged_neg_curve);
}
template <class Solver> bool NegativeCurvatureConverges(const Solver *, long)
{
  return false;
}
} // namespace

PetscErrorCode EndWithCurvature(KSP ksp)
{
  PetscFunctionBegin;
  ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
#if PETSC_VERSION_GE(3, 19, 0)
  if (NegativeCurvatureConverges(ksp, 0)) ksp->reason = KSP_CONVERGED_NEG_CURVE;
#endif
  PetscCall(PetscInfo(ksp, "The matrix is indefinite: (p, A p) is zero or has changed its sign\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Takes the outcome of iteration k in, whose number is k + 1 for the user.
PetscErrorCode TakeOutcome(KSP ksp, PetscInt k, const Told &told)
{
  Cg *cg = CgOf(ksp);

  PetscFunctionBegin;
  if (told.outcome != RHO_NOT_FINITE) ksp->its = k + 1;
  switch (told.outcome) {
  case GOES_ON:
  case STOPS: break;
  case RHO_NOT_FINITE:
  case CURVATURE_NOT_FINITE:
    PetscCall(EndWithNorm(ksp, std::numeric_limits<PetscReal>::quiet_NaN()));
    PetscFunctionReturn(PETSC_SUCCESS);
  case RHO_ZERO:
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "The preconditioned residual is zero\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  case INDEFINITE_PC:
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
    PetscCall(PetscInfo(ksp, "The preconditioner is indefinite: (r, z) has changed its sign\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  case INDEFINITE_MAT: PetscCall(EndWithCurvature(ksp)); PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->calc_sings) {
    PetscCallCXX(cg->alpha.push_back(told.alpha));
    PetscCallCXX(cg->rho.push_back(told.rho));
  }
  if (PetscIsInfOrNanReal(told.norm)) {
    PetscCall(EndWithNorm(ksp, told.norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool seen = ksp->normtype == KSP_NORM_NATURAL || ksp->chknorm <= ksp->its; // else PETSc's knows no norm
  PetscCall(TakeNorm(ksp, ksp->its, seen ? told.norm : 0));
  PetscCheck(ksp->reason || told.outcome == GOES_ON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The GPU has stopped at the residual norm %g, which is not the end", (double)told.norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveOnArrays(KSP ksp)
{
  Cg            *cg       = CgOf(ksp);
  ArraySolve    *arrays   = &cg->arrays;
  const PetscInt last     = std::max<PetscInt>(1, ksp->max_it); // PETSc's cg takes a step before it looks at the limit
  const bool     late     = arrays->space() == Space::Device && IteratesAreUnseen(ksp);
  const bool     together = arrays->together();
  PetscInt       launched = 0, finished = 0;
  PetscReal      norm;
  Told           told;

  PetscFunctionBegin;
  PetscCall(arrays->Start(&norm));
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  if (late) {
    arrays->Test(DefaultNormTest(ksp));
    arrays->LaunchAheadUntil(last);
  }
  if (cg->small.active())
    PetscCall(cg->small.Run(ksp, last, arrays->FlopsEach(), &finished,
                            [&](PetscInt k, const Told &outcome) { return TakeOutcome(ksp, k, outcome); }));
  launched = finished;
  while (!ksp->reason && finished < last) {
    const PetscInt ahead = !late ? 1 : together ? Ranks::AHEAD : cg->lag.ahead();
    const PetscInt end   = std::min(last, finished + ahead);
    for (; launched < end; launched++) PetscCall(arrays->Launch(launched));
    PetscCall(arrays->Await(finished, &told));
    if (late && !together) cg->lag.RecordRead(launched < last && arrays->Idle(launched - 1));
    PetscCall(TakeOutcome(ksp, finished++, told));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same around a preconditioner that is applied from outside. While the host waits for the norm of a preconditioned
/// residual, the device computes the next product.
PetscErrorCode SolveAroundPreconditioner(KSP ksp)
{
  ArraySolve    *arrays     = &CgOf(ksp)->arrays;
  const PetscInt last       = std::max<PetscInt>(1, ksp->max_it);
  const bool     late       = arrays->space() == Space::Device;
  const bool     of_z       = ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_NATURAL;
  bool           multiplied = false;
  PetscReal      norm;
  Told           told;

  PetscFunctionBegin;
  PetscCall(arrays->Start(&norm));
  if (!PetscIsInfOrNanReal(norm) && of_z) {
    PetscCall(arrays->Precondition(-1));
    PetscCall(arrays->AwaitPreconditioned(&norm));
  }
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  for (PetscInt k = 0; !ksp->reason && k < last; k++) {
    if (!of_z) PetscCall(arrays->Precondition(k - 1));
    if (!multiplied) PetscCall(arrays->Multiply(k));
    multiplied = late && of_z && k + 1 < last;
    PetscCall(arrays->UpdateResidual(k));
    if (late && of_z) PetscCall(arrays->Precondition(k));
    if (multiplied) PetscCall(arrays->Multiply(k + 1));
    PetscCall(arrays->AwaitResidual(&told));
    if (told.outcome == GOES_ON && of_z) {
      if (!late) PetscCall(arrays->Precondition(k));
      PetscCall(arrays->AwaitPreconditioned(&told.norm));
    }
    PetscCall(TakeOutcome(ksp, k, told));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPSolve_SparseGPUCG(KSP ksp)
{
  Cg       *cg = CgOf(ksp);
  PetscBool scales;

  PetscFunctionBegin;
  PetscCall(ScalesDiagonal(ksp, &scales));
  PetscCheck(!scales, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "%s does not support diagonal scaling",
             ((PetscObject)ksp)->type_name);
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  ksp->its = 0;
  cg->lag  = RecordLag();
  cg->alpha.clear();
  cg->rho.clear();
  if (cg->residuals || cg->flexible) {
    cg->way = cg->residuals ? "conjugate residuals, on vectors of PETSc" : "flexible, on vectors of PETSc";
    PetscCall(cg->residuals ? SolveResiduals(ksp) : SolveOnVectors(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (cg->hermitian) PetscCall(cg->arrays.Begin(ksp));
  PetscCall(cg->small.Begin(ksp, &cg->arrays, cg->hermitian ? cg->small_mode : SmallMode::Off));
  const bool arrays = cg->hermitian && cg->arrays.active(), outside = arrays && cg->arrays.outside();
  cg->way = cg->small.active() ? "many iterations in one launch on the GPU"
            : !arrays          ? "on vectors of PETSc"
            : cg->arrays.space() == Space::Device
                ? (cg->arrays.together() ? (outside ? "five kernels an iteration on each GPU, and the preconditioner"
                                                    : "three kernels an iteration on each GPU")
                                         : (outside ? "four kernels an iteration on the GPU, and the preconditioner"
                                                    : "two kernels an iteration on the GPU"))
            : outside ? "four passes an iteration on the host, and the preconditioner"
                      : "two passes an iteration on the host";
  if (arrays) {
    PetscCall(cg->arrays.outside() ? SolveAroundPreconditioner(ksp) : SolveOnArrays(ksp));
    PetscCall(cg->arrays.End());
  } else {
    PetscCall(SolveOnVectors(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
