/// Updates of vectors joined, and the first product of a zero guess left out.
#include "pc/amg/smoothing.hpp"
#include <petsc/private/kspimpl.h>
#include "mat/face/solver_access.hpp"
#include "pc/amg/arrays.hpp"
#include "pc/amg/residual.hpp"
#include "pc/amg/solvers.hpp"
#include "pc/smooth/pcsmoother.hpp"
#include "sparsegpu.h"

namespace sparsegpu::amg
{

namespace
{
PetscErrorCode ChebyshevUpdate(PetscReal before, PetscReal now, PetscReal residual, Vec d, Vec f, Vec q, Vec x,
                               Vec next)
{
  const Vec read[] = {d, f, q, x};

  PetscFunctionBegin;
  PetscCall(
      Update(read, next, before != 0 ? Access::ReadWrite : Access::Write, [&](const Scalar *const *from, Scalar *to) {
        return ChebyshevStep{before, now, residual, from[0], from[1], from[2], from[3], to};
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// next = before next + now x + residual d (b - A x): one kernel, or the product in q and an update. x null: 0.
PetscErrorCode Step(Mat A, const face::StepFactors &by, Vec d, Vec b, Vec q, Vec x, Vec next)
{
  bool done = false;

  PetscFunctionBegin;
  if (x) PetscCall(face::MultStep(A, by, d, b, x, next, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (x) PetscCall(MatMult(A, x, q));
  PetscCall(ChebyshevUpdate(by.before, by.now, by.residual, d, b, x ? q : nullptr, x, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a solver does a number of steps and nothing else.
bool IsPlain(KSP ksp)
{
  bool plain = !ksp->numbermonitors && ksp->normtype == KSP_NORM_NONE && ksp->max_it >= 1;
  plain      = plain && ksp->pc_side != PC_SYMMETRIC && !ksp->presolve && !ksp->postsolve;
#if PETSC_VERSION_LT(3, 26, 0)
  plain = plain && !ksp->dscale;
#endif
  return plain;
}

PetscErrorCode IsFirstKind(KSP ksp, PC pc, bool *is)
{
  PCJacobiType kind;
  PetscBool    absolute = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCJacobiGetType(pc, &kind));
  PetscCall(PCJacobiGetUseAbs(pc, &absolute));
  *is = kind == PC_JACOBI_DIAGONAL && !absolute;
#if PETSC_VERSION_GE(3, 22, 0)
  KSPChebyshevKind polynomial;
  PetscCall(KSPChebyshevGetKind(ksp, &polynomial));
  *is = *is && polynomial == KSP_CHEBYSHEV_FIRST;
#else
  (void)ksp;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmoothingOf(KSP ksp, Smoothing *smoothing)
{
  PC        pc;
  PetscBool chebyshev, richardson, jacobi, sweeps, ours;
  bool      first = false;

  PetscFunctionBegin;
  *smoothing = Smoothing::Other;
  if (!IsPlain(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSPARSEGPUSMOOTHER, &sweeps));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSPARSEGPU, &ours));
  if (chebyshev && jacobi) PetscCall(IsFirstKind(ksp, pc, &first));
  if (first) *smoothing = Smoothing::Chebyshev;
  if (richardson && sweeps) *smoothing = Smoothing::Sweeps;
  if (richardson && ours) *smoothing = Smoothing::Richardson;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SmoothingOf(const PC_MG_Levels &l, Smoothing *smoothing)
{
  Smoothing up;

  PetscFunctionBegin;
  *smoothing = Smoothing::Other;
  if (l.cr || l.restrct != l.interpolate || l.residual != PCMGResidualDefault) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SmoothingOf(l.smoothd, smoothing));
  PetscCall(SmoothingOf(l.smoothu, &up));
  // of two solvers with Chebyshev's method each may have its own bounds
  if (up != *smoothing || (up == Smoothing::Chebyshev && l.smoothu != l.smoothd)) *smoothing = Smoothing::Other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LevelSmoother::Clear()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&A_));
  PetscCall(VecDestroy(&inverse_));
  PetscCall(VecDestroy(&other_));
  steps.reset();
  smoothing_ = Smoothing::Other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Room for an iterate and, of Chebyshev's method, the inverse of the diagonal.
PetscErrorCode LevelSmoother::SetUp(const PC_MG_Levels &level, const Level &made, const Settings &settings)
{
  const Vec none[1] = {nullptr};
  Smoothing smoothing;
  bool      takes = settings.fused_cycle;

  PetscFunctionBegin;
  PetscCall(SmoothingOf(level, &smoothing));
  if (smoothing == Smoothing::Chebyshev) {
    if (takes) PetscCall(TakesSpectrum(level.smoothd, &takes));
    takes = takes && settings.use_sa_esteig && made.emax > 0;
  } else {
    if (takes) PetscCall(TakesUnscaled(level.smoothd, &takes));
    if (takes) PetscCall(TakesUnscaled(level.smoothu, &takes));
  }
  if (!takes || smoothing == Smoothing::Other) {
    PetscCall(Clear());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (A_ != made.A || smoothing != smoothing_) { // the same address is the same matrix: it is referenced
    PetscCall(PetscObjectReference((PetscObject)made.A));
    PetscCall(Clear());
    A_ = made.A;
    PetscCall(MatCreateVecs(A_, &other_, nullptr));
    if (smoothing == Smoothing::Chebyshev) PetscCall(VecDuplicate(other_, &inverse_));
  }
  smoothing_ = smoothing;
  emax_      = made.emax;
  begin_     = made.begin;
  for (KSP ksp : {level.smoothd, level.smoothu}) { // PCMG may leave it to the first solve
    PC pc;
    PetscCall(KSPGetPC(ksp, &pc));
    if (smoothing != Smoothing::Chebyshev) PetscCall(PCSetUp(pc));
  }
  if (!inverse_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonal(A_, inverse_));
  PetscCall(
      Update(none, inverse_, Access::ReadWrite, [](const Scalar *const *, Scalar *d) { return InvertDiagonal{d}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPCHEBYSHEV of the first kind; level.r holds products.
PetscErrorCode LevelSmoother::Chebyshev(const PC_MG_Levels &level, PetscInt steps, Vec b, Vec x, bool zero) const
{
  const PetscReal scale = 2 / (end() + begin()), mu = 1 / (1 - scale * begin());
  PetscReal       c[2] = {1, mu};
  Vec             now = x, next = other_;

  PetscFunctionBegin;
  PetscCall(Step(A_, {0, 1, scale}, inverse_, b, level.r, zero ? nullptr : x, next));
  for (PetscInt s = 1; s < steps; s++) {
    const PetscReal after = 2 * mu * c[1] - c[0], omega = 2 * mu * c[1] / after;
    std::swap(now, next); // next holds the iterate before, which is 0 after one step from zero
    c[0]                   = c[1];
    c[1]                   = after;
    const PetscReal before = zero && s == 1 ? 0 : 1 - omega;
    PetscCall(Step(A_, {before, omega, omega * scale}, inverse_, b, level.r, now, next));
  }
  if (next != x) PetscCall(VecCopy(next, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x += B (b - A x), so many times.
PetscErrorCode LevelSmoother::Richardson(const PC_MG_Levels &level, KSP ksp, Vec b, Vec x, bool zero) const
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  for (PetscInt s = 0; s < ksp->max_it; s++) {
    if (zero && s == 0) {
      PetscCall(PCApply(pc, b, x));
      continue;
    }
    PetscCall(Residual(A_, b, x, level.r));
    PetscCall(PCApply(pc, level.r, other_));
    PetscCall(VecAXPY(x, 1, other_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LevelSmoother::Smooth(const PC_MG_Levels &level, KSP ksp, Vec b, Vec x, bool zero) const
{
  PC pc;

  PetscFunctionBegin;
  switch (smoothing_) {
  case Smoothing::Chebyshev: PetscCall(Chebyshev(level, ksp->max_it, b, x, zero)); break;
  case Smoothing::Richardson: PetscCall(Richardson(level, ksp, b, x, zero)); break;
  default: PetscCall(KSPGetPC(ksp, &pc)); PetscCall(smooth::SmoothWith(pc, b, x, ksp->max_it, zero));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
