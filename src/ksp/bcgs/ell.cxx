/// BiCGStab(l) on PETSc's vectors, with K the preconditioned operator:
///
///     r_i = K^i r, u_i = K^i u; for j = 0 .. l - 1, a step of BiCG:
///       beta = alpha (r~, r_j) / rho, rho = (r~, r_j), u_i = r_i - beta u_i, i = 0 .. j;  u_(j+1) = K u_j
///       alpha = rho / (r~, u_(j+1)), x += alpha u_0, r_i -= alpha u_(i+1), i = 0 .. j;    r_(j+1) = K r_j
///     then a polynomial of degree l: gamma minimises |r_0 - sum gamma_i r_i|
///       x += sum gamma_i r_(i-1), u_0 -= sum gamma_i u_i, r_0 -= sum gamma_i r_i;  rho = -gamma_l rho
///
/// Sleijpen and Fokkema, ETNA 1, 1993. The l factors of degree one that BiCGStab minimises with one by one are close to
/// zero where eigenvalues are near the imaginary axis; the polynomial is not. An iteration takes 2 l products, and
/// counts as l of BiCGStab.
///
/// A breakdown, of BiCG or of the polynomial's last coefficient, is found as in recurrence.hpp. The remaining steps of
/// BiCG are left out, the polynomial reduces the residual nevertheless, and the next iteration begins anew from it.
#include <algorithm>
#include "ksp/bcgs/bcgs.hpp"
#include "ksp/bcgs/vectors.hpp"
#include "petsc/add_multiples.hpp"

namespace sparsegpu::bcgs
{

namespace
{
/// gamma [l] minimises |r_0 - sum gamma_i r_i| by the Cholesky factor of the normal equations; products[i][k] = (r_i,
/// r_k), i <= k. *degree: how many of r_1 .. r_l are independent of those before; the rest gets zeros.
void Minimise(PetscInt l, const PetscScalar (&products)[MOST_ELL + 1][MOST_ELL + 1], PetscScalar *gamma,
              PetscInt *degree)
{
  PetscScalar L[MOST_ELL][MOST_ELL], y[MOST_ELL]; // the factor, by rows; of (r_(i+1), r_(k+1))
  PetscInt    n = 0;

  for (PetscInt i = 0; i < l; i++) {
    for (PetscInt k = 0; k <= i; k++) {
      PetscScalar sum = PetscConj(products[k + 1][i + 1]);
      for (PetscInt q = 0; q < k; q++) sum -= L[i][q] * PetscConj(L[k][q]);
      L[i][k] = k < i ? sum / L[k][k] : sum;
    }
    const PetscReal left = PetscRealPart(L[i][i]), whole = PetscRealPart(products[i + 1][i + 1]);
    if (!(left > 4 * static_cast<PetscReal>(l) * PETSC_MACHINE_EPSILON * whole)) break; // rounding errors
    L[i][i]         = PetscSqrtReal(left);
    PetscScalar sum = PetscConj(products[0][i + 1]);
    for (PetscInt q = 0; q < i; q++) sum -= L[i][q] * y[q];
    y[i] = sum / L[i][i];
    n++;
  }
  std::fill_n(gamma, l, PetscScalar(0));
  for (PetscInt i = n - 1; i >= 0; i--) {
    PetscScalar sum = y[i];
    for (PetscInt k = i + 1; k < n; k++) sum -= PetscConj(L[k][i]) * gamma[k];
    gamma[i] = sum / L[i][i];
  }
  *degree = n;
}

class EllSolve
{
public:
  explicit EllSolve(KSP ksp) : ksp_(ksp), ell_(BcgsOf(ksp)->ell) {}

  PetscErrorCode Begin(PetscReal *norm);
  PetscErrorCode Iterate(Told *told);
  /// With preconditioning from the right: what has been found so far to the solution.
  PetscErrorCode Publish();

private:
  PetscErrorCode Apply(Vec from, Vec to);
  PetscErrorCode DotsWith(Vec v, PetscScalar *shadow, PetscReal *square);
  PetscErrorCode StepOfBiCG(PetscInt j, Outcome *outcome);
  PetscErrorCode Polynomial(Outcome *outcome);
  PetscErrorCode End(Told *told);

  KSP      ksp_;
  PetscInt ell_;
  Vec     *r_ = nullptr, *u_ = nullptr; ///< [l + 1] each
  Vec      shadow_ = nullptr, w_ = nullptr;
  Vec      y_ = nullptr; ///< what the recurrence adds to: the solution, from the right a sum before the preconditioner
  State    state_  = {};
  PetscScalar rho_ = 0, alpha_ = 0, omega_ = 0;
  bool        broken_ = false; ///< no more steps of BiCG in this iteration
  bool        lost_   = false; ///< the polynomial's last coefficient vanishes
};

/// to = K from.
PetscErrorCode EllSolve::Apply(Vec from, Vec to)
{
  PetscFunctionBegin;
  PetscCall(KSP_PCApplyBAorAB(ksp_, from, to, w_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// (r~, v) and (v, v) in one reduction.
PetscErrorCode EllSolve::DotsWith(Vec v, PetscScalar *shadow, PetscReal *square)
{
  const Vec   with[2] = {shadow_, v};
  PetscScalar dots[2];

  PetscFunctionBegin;
  PetscCall(VecMDot(v, 2, with, dots));
  *shadow = dots[0];
  *square = PetscRealPart(dots[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllSolve::Begin(PetscReal *norm)
{
  const PetscInt count = ell_ + 1, vectors = 2 * count + 3;
  const bool     right = ksp_->pc_side == PC_RIGHT;
  PetscScalar    rho   = 0;

  PetscFunctionBegin;
  if (ksp_->nwork < vectors) PetscCall(KSPSetWorkVecs(ksp_, vectors));
  r_      = ksp_->work;
  u_      = r_ + count;
  shadow_ = u_[count];
  w_      = u_[count + 1];
  y_      = right ? u_[count + 2] : ksp_->vec_sol;
  PetscCall(ComputeResidual(ksp_, u_[0], u_[1], r_[0]));
  if (right) PetscCall(VecSet(y_, 0));
  PetscCall(VecNorm(r_[0], NORM_2, norm));
  PetscCall(VecCopy(r_[0], shadow_));
  PetscCall(DotsWith(r_[0], &rho, &state_.square));
  state_.rho    = ToScalar(rho);
  state_.shadow = state_.low = state_.square;
  state_.first               = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllSolve::Publish()
{
  PetscFunctionBegin;
  if (y_ == ksp_->vec_sol) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSP_PCApply(ksp_, y_, w_));
  PetscCall(VecAXPY(ksp_->vec_sol, 1, w_));
  PetscCall(VecSet(y_, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Step j, but for r_(j+1). Anything but GOES_ON is the end of the solve.
PetscErrorCode EllSolve::StepOfBiCG(PetscInt j, Outcome *outcome)
{
  PetscScalar rho = FromScalar(state_.rho), along = 0;
  PetscReal   square = state_.square;

  PetscFunctionBegin;
  if (j > 0) PetscCall(DotsWith(r_[j], &rho, &square));
  if (PetscIsInfOrNanScalar(rho) || PetscIsInfOrNanReal(square)) {
    *outcome = NOT_FINITE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  broken_ = Vanishes(ToScalar(rho), state_.shadow, square);
  if (broken_) PetscFunctionReturn(PETSC_SUCCESS);
  const bool        fresh = j == 0 && state_.first; // u is zero
  const PetscScalar beta  = fresh ? PetscScalar(0) : alpha_ * (rho / rho_);
  rho_                    = rho;
  for (PetscInt i = 0; i <= j; i++) PetscCall(fresh ? VecCopy(r_[i], u_[i]) : VecAYPX(u_[i], -beta, r_[i]));
  PetscCall(Apply(u_[j], u_[j + 1]));
  PetscCall(DotsWith(u_[j + 1], &along, &square));
  if (PetscIsInfOrNanScalar(along) || PetscIsInfOrNanReal(square)) {
    *outcome = NOT_FINITE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  broken_ = Vanishes(ToScalar(along), state_.shadow, square);
  if (broken_ && fresh && square == 0) *outcome = BREAKS_DOWN;
  if (broken_) PetscFunctionReturn(PETSC_SUCCESS);
  alpha_ = rho_ / along;
  PetscCall(VecAXPY(y_, alpha_, u_[0]));
  for (PetscInt i = 0; i <= j; i++) PetscCall(VecAXPY(r_[i], -alpha_, u_[i + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllSolve::Polynomial(Outcome *outcome)
{
  PetscScalar products[MOST_ELL + 1][MOST_ELL + 1], gamma[MOST_ELL], less[MOST_ELL], column[MOST_ELL + 1];
  PetscInt    degree;

  PetscFunctionBegin;
  for (PetscInt k = 0; k <= ell_; k++) {
    PetscCall(VecMDot(r_[k], k + 1, r_, column));
    for (PetscInt i = 0; i <= k; i++) {
      products[i][k] = column[i];
      if (PetscIsInfOrNanScalar(column[i])) *outcome = NOT_FINITE;
    }
  }
  if (*outcome != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscRealPart(products[0][0]) == 0) {
    *outcome = EXACT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Minimise(ell_, products, gamma, &degree);
  if (degree == 0) { // K r_0 is zero
    *outcome = BREAKS_DOWN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < ell_; i++) less[i] = -gamma[i];
  PetscCall(AddMultiples(y_, ell_, gamma, r_));
  PetscCall(AddMultiples(r_[0], ell_, less, r_ + 1));
  if (!broken_) PetscCall(AddMultiples(u_[0], ell_, less, u_ + 1));
  omega_ = gamma[ell_ - 1];
  lost_  = degree < ell_ || !(PetscAbsScalar(omega_) * PetscSqrtReal(PetscRealPart(products[ell_][ell_])) >
                             PETSC_MACHINE_EPSILON * PetscSqrtReal(PetscRealPart(products[0][0])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The norm of the new residual, and a restart where one is due.
PetscErrorCode EllSolve::End(Told *told)
{
  WholeStep   step{Scalar(0), Scalar(0), Scalar(0), broken_ || lost_, false, 0, GOES_ON};
  PetscScalar rho    = 0;
  PetscReal   square = 0;
  PetscInt    rows;

  PetscFunctionBegin;
  step.random = step.restarts && state_.useless % 2 == 1;
  step.seed   = static_cast<unsigned>(state_.restarts);
  if (step.restarts) PetscCall(SetShadow(step, r_[0], shadow_));
  rho_ = -omega_ * rho_;
  PetscCall(DotsWith(r_[0], &rho, &square));
  PetscCall(VecGetSize(r_[0], &rows));
  told->outcome = EndIteration(&state_, step, ToScalar(rho), square, static_cast<PetscReal>(rows));
  told->norm    = PetscSqrtReal(square);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllSolve::Iterate(Told *told)
{
  PetscFunctionBegin;
  *told   = Told{0, GOES_ON};
  broken_ = lost_ = false;
  for (PetscInt j = 0; j < ell_ && told->outcome == GOES_ON; j++) {
    if (!broken_) PetscCall(StepOfBiCG(j, &told->outcome));
    if (told->outcome == GOES_ON) PetscCall(Apply(r_[j], r_[j + 1]));
  }
  if (told->outcome == GOES_ON) PetscCall(Polynomial(&told->outcome));
  if (told->outcome == GOES_ON) PetscCall(End(told));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SolveEll(KSP ksp)
{
  const PetscInt ell = BcgsOf(ksp)->ell;
  EllSolve       solve(ksp);
  PetscReal      norm;
  Told           told;

  PetscFunctionBegin;
  PetscCall(solve.Begin(&norm));
  if (ksp->normtype == KSP_NORM_NONE) norm = 0;
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  for (PetscInt k = 0; !ksp->reason && (k == 0 || k < ksp->max_it); k += ell) {
    PetscCall(solve.Iterate(&told));
    if (!IteratesAreUnseen(ksp)) PetscCall(solve.Publish());
    PetscCall(TakeOutcome(ksp, k + ell - 1, told));
  }
  PetscCall(solve.Publish());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
