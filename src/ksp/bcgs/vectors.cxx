/// The same recurrence on PETSc's vectors. As many applications of the preconditioner and reductions as PETSc's bcgs
/// has; an iteration reports and ends as there.
#include <algorithm>
#include "device/local_array.hpp"
#include "ksp/bcgs/bcgs.hpp"
#include "ksp/bcgs/vectors.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode ComputeResidual(KSP ksp, Vec v, Vec t, Vec r)
{
  LocalArray entries;
  PetscInt   rows;

  PetscFunctionBegin;
  PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, v, t, r, ksp->vec_rhs));
  if (ksp->reason != KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(r, &rows)); // on some processes alone: the norm tells the others
  PetscCall(entries.Get(r, Space::Host, Access::Write));
  std::fill_n(entries.write(), rows, Scalar(PETSC_INFINITY));
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetShadow(const WholeStep &step, Vec r, Vec shadow)
{
  LocalArray entries;
  PetscInt   begin, end;

  PetscFunctionBegin;
  if (!step.random) {
    PetscCall(VecCopy(r, shadow));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetOwnershipRange(shadow, &begin, &end));
  PetscCall(entries.Get(shadow, Space::Host, Access::Write));
  for (PetscInt k = begin; k < end; k++) entries.write()[k - begin] = RandomSign(k, step.seed);
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
void ToParts(PetscScalar v, PetscReal *part)
{
  part[0] = PetscRealPart(v);
#if defined(PETSC_USE_COMPLEX)
  part[1] = PetscImaginaryPart(v);
#endif
}

struct VectorSolve {
  KSP   ksp;
  Mat   A;
  bool  right;
  Vec   x, r, p, v, t, shadow, p_hat, s_hat, w;
  State state = {};

  PetscErrorCode Begin(PetscReal *norm);
  PetscErrorCode Apply(Vec from, Vec hat, Vec to);
  PetscErrorCode Iterate(Told *told);
  PetscErrorCode Update(const WholeStep &step);
};

PetscErrorCode VectorSolve::Begin(PetscReal *norm)
{
  PetscScalar square;

  PetscFunctionBegin;
  PetscCall(ComputeResidual(ksp, v, t, r));
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecCopy(r, shadow));
  PetscCall(VecCopy(r, p));
  PetscCall(VecDot(r, shadow, &square)); // the square of the norm has other bits than inner products that come
  state.rho    = ToScalar(square);
  state.shadow = state.square = state.low = PetscRealPart(square);
  state.first                             = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// to = the preconditioned operator applied to `from`; from the right, hat = the preconditioner applied to it.
PetscErrorCode VectorSolve::Apply(Vec from, Vec hat, Vec to)
{
  PetscFunctionBegin;
  if (right) {
    PetscCall(KSP_PCApply(ksp, from, hat));
    PetscCall(KSP_MatMult(ksp, A, hat, to));
  } else {
    PetscCall(KSP_PCApplyBAorAB(ksp, from, to, w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pass 4.
PetscErrorCode VectorSolve::Update(const WholeStep &step)
{
  const PetscScalar alpha = FromScalar(step.alpha), omega = FromScalar(step.omega), beta = FromScalar(step.beta);

  PetscFunctionBegin;
  PetscCall(VecAXPBYPCZ(x, alpha, omega, 1, p_hat, s_hat));
  PetscCall(VecAXPY(r, -omega, t));
  if (step.restarts) {
    PetscCall(VecCopy(r, p));
    PetscCall(SetShadow(step, r, shadow));
  } else {
    PetscCall(VecAXPBYPCZ(p, 1, -omega * beta, beta, r, v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VectorSolve::Iterate(Told *told)
{
  Vec         with[3] = {shadow, v, nullptr};
  PetscScalar dots[3];
  PetscReal   norm, half_dots[SHADOW_DOTS], whole_dots[MINIMISE_DOTS];
  PetscInt    rows;

  PetscFunctionBegin;
  PetscCall(Apply(p, p_hat, v));
  PetscCall(VecMDot(v, 2, with, dots));
  ToParts(dots[0], half_dots);
  half_dots[PARTS]    = PetscRealPart(dots[1]);
  const HalfStep half = TakeHalf(state, half_dots);
  *told               = Told{0, half.outcome};
  if (half.outcome != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  state.alpha  = half.alpha;
  state.along  = half.along;
  state.broken = half.broken;
  PetscCall(VecAXPY(r, -FromScalar(half.alpha), v)); // s from here on
  PetscCall(Apply(r, s_hat, t));
  PetscCall(VecNorm(r, NORM_2, &norm));
  with[1] = t;
  with[2] = r;
  PetscCall(VecMDot(t, 3, with, dots));
  ToParts(dots[0], whole_dots);
  whole_dots[PARTS] = PetscRealPart(dots[1]);
  ToParts(dots[2], whole_dots + SHADOW_DOTS);
  whole_dots[SHADOW_DOTS + PARTS] = norm * norm;
  const WholeStep step            = TakeWhole(state, whole_dots);
  *told                           = Told{0, step.outcome};
  if (step.outcome == NOT_FINITE || step.outcome == BREAKS_DOWN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Update(step));
  with[1] = r;
  PetscCall(VecMDot(r, 2, with, dots));
  PetscCall(VecGetSize(r, &rows));
  const PetscReal square = PetscRealPart(dots[1]);
  told->outcome          = EndIteration(&state, step, ToScalar(dots[0]), square, static_cast<PetscReal>(rows));
  told->norm             = PetscSqrtReal(square);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SolveOnVectors(KSP ksp)
{
  const bool  right = ksp->pc_side == PC_RIGHT;
  VectorSolve solve{};
  PetscReal   norm;
  Told        told;

  PetscFunctionBegin;
  if (ksp->nwork < VECTORS) PetscCall(KSPSetWorkVecs(ksp, VECTORS));
  Vec *const w = ksp->work;
  solve        = VectorSolve{
      ksp, nullptr, right, ksp->vec_sol, w[0], w[1], w[2], w[3], w[4], right ? w[5] : w[1], right ? w[6] : w[0], w[7]};
  PetscCall(PCGetOperators(ksp->pc, &solve.A, nullptr));
  PetscCall(solve.Begin(&norm));
  if (ksp->normtype == KSP_NORM_NONE) norm = 0;
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  for (PetscInt k = 0; !ksp->reason && (k == 0 || k < ksp->max_it); k++) {
    PetscCall(solve.Iterate(&told));
    PetscCall(TakeOutcome(ksp, k, told));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
