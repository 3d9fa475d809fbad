/// Conjugate residuals on PETSc's vectors, with a preconditioner B from the left:
///
///     z = B r, p = z; q = B A p, alpha = (z, A z) / (A p, q), x += alpha p, z -= alpha q
///     beta = (z', A z') / (z, A z), p = z' + beta p, A p = A z' + beta A p
///
/// Hestenes and Stiefel, 1952; Stiefel, Comment. Math. Helv. 29, 1955. Each step makes the residual as small as the
/// Krylov space allows, in the norm of B, so that it never grows; A may be indefinite. One product and one application
/// of the preconditioner an iteration, two reductions, vectors P, A P, z, A z, q.
#include <limits>
#include "ksp/cg/cg.hpp"
#include "ksp/cg/recurrence.hpp"
#include "ksp/common/converged.hpp"

namespace sparsegpu::cg
{

namespace
{
enum Work {
  WORK_R,
  WORK_Z,
  WORK_AZ,
  WORK_P,
  WORK_AP,
  WORK_Q,
  WORKS
};

class Residuals
{
public:
  explicit Residuals(KSP ksp) : ksp_(ksp), hermitian_(CgOf(ksp)->hermitian) {}

  PetscErrorCode Begin(PetscReal *norm);
  PetscErrorCode Iterate(PetscReal *norm);
  /// The next direction.
  PetscErrorCode Turn();

private:
  PetscErrorCode DotAndNorm(Vec a, Vec b, PetscScalar *dot, PetscReal *norm);
  Vec            At(Work w) const { return ksp_->work[w]; }

  KSP         ksp_;
  Mat         A_ = nullptr;
  bool        hermitian_;
  PetscScalar top_ = 0, before_ = 0; ///< (z, A z) now and in the step before
};

/// (z, A z), and the norm that is asked for, in one reduction.
PetscErrorCode Residuals::DotAndNorm(Vec a, Vec b, PetscScalar *dot, PetscReal *norm)
{
  const bool of_z = ksp_->normtype == KSP_NORM_PRECONDITIONED, of_r = ksp_->normtype == KSP_NORM_UNPRECONDITIONED;
  const Vec  v = of_z ? At(WORK_Z) : At(WORK_R);

  PetscFunctionBegin;
  PetscCall(hermitian_ ? VecDotBegin(b, a, dot) : VecTDotBegin(b, a, dot));
  if (of_z || of_r) PetscCall(VecNormBegin(v, NORM_2, norm));
  PetscCall(hermitian_ ? VecDotEnd(b, a, dot) : VecTDotEnd(b, a, dot));
  if (of_z || of_r) PetscCall(VecNormEnd(v, NORM_2, norm));
  if (ksp_->normtype == KSP_NORM_NATURAL) *norm = PetscSqrtReal(PetscAbsScalar(*dot));
  if (ksp_->normtype == KSP_NORM_NONE) *norm = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Residuals::Begin(PetscReal *norm)
{
  const Vec r = ksp_->work[WORK_R];

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp_->pc, &A_, nullptr));
  if (ksp_->guess_zero) {
    PetscCall(VecCopy(ksp_->vec_rhs, r));
  } else {
    PetscCall(KSP_MatMult(ksp_, A_, ksp_->vec_sol, r));
    PetscCall(VecAYPX(r, -1, ksp_->vec_rhs));
  }
  // on some processes alone: the norm tells the others
  if (ksp_->reason == KSP_DIVERGED_PC_FAILED) PetscCall(VecSet(r, PETSC_INFINITY));
  PetscCall(KSP_PCApply(ksp_, r, At(WORK_Z)));
  PetscCall(KSP_MatMult(ksp_, A_, At(WORK_Z), At(WORK_AZ)));
  PetscCall(VecCopy(At(WORK_Z), At(WORK_P)));
  PetscCall(VecCopy(At(WORK_AZ), At(WORK_AP)));
  PetscCall(DotAndNorm(At(WORK_Z), At(WORK_AZ), &top_, norm));
  if (ksp_->normtype == KSP_NORM_NONE && PetscIsInfOrNanScalar(top_)) *norm = PETSC_INFINITY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A step. Leaves a reason where there is none to be taken.
PetscErrorCode Residuals::Iterate(PetscReal *norm)
{
  PetscScalar square;

  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp_, At(WORK_AP), At(WORK_Q)));
  PetscCall(hermitian_ ? VecDot(At(WORK_AP), At(WORK_Q), &square) : VecTDot(At(WORK_AP), At(WORK_Q), &square));
  if (PetscIsInfOrNanScalar(square)) {
    PetscCall(EndWithNorm(ksp_, std::numeric_limits<PetscReal>::quiet_NaN()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (hermitian_ ? PetscRealPart(square) <= 0 : square == static_cast<PetscScalar>(0)) {
    ksp_->reason = KSP_DIVERGED_INDEFINITE_PC;
    PetscCall(PetscInfo(ksp_, "(A p, B A p) is %g: the preconditioner is indefinite, or the matrix singular\n",
                        (double)PetscRealPart(square)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (top_ == static_cast<PetscScalar>(0)) {
    ksp_->reason = KSP_DIVERGED_INDEFINITE_MAT;
    PetscCall(PetscInfo(ksp_, "(z, A z) is zero: the matrix is indefinite, and the step has no length\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscScalar alpha = top_ / square;
  before_                 = top_;
  PetscCall(VecAXPY(ksp_->vec_sol, alpha, At(WORK_P)));
  PetscCall(VecAXPY(At(WORK_Z), -alpha, At(WORK_Q)));
  if (ksp_->normtype == KSP_NORM_UNPRECONDITIONED) PetscCall(VecAXPY(At(WORK_R), -alpha, At(WORK_AP)));
  PetscCall(KSP_MatMult(ksp_, A_, At(WORK_Z), At(WORK_AZ)));
  PetscCall(DotAndNorm(At(WORK_Z), At(WORK_AZ), &top_, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Residuals::Turn()
{
  const PetscScalar beta = top_ / before_;

  PetscFunctionBegin;
  PetscCall(VecAYPX(At(WORK_P), beta, At(WORK_Z)));
  PetscCall(VecAYPX(At(WORK_AP), beta, At(WORK_AZ)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SolveResiduals(KSP ksp)
{
  Residuals solve(ksp);
  PetscReal norm = 0;

  PetscFunctionBegin;
  if (ksp->nwork < WORKS) PetscCall(KSPSetWorkVecs(ksp, WORKS));
  PetscCall(solve.Begin(&norm));
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  for (PetscInt k = 0; !ksp->reason && (k == 0 || k < ksp->max_it); k++) { // PETSc's cr takes a step at any limit
    if (k > 0) PetscCall(solve.Turn());
    PetscCall(solve.Iterate(&norm));
    if (ksp->reason) break;
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(EndWithNorm(ksp, norm));
      break;
    }
    ksp->its = k + 1;
    PetscCall(TakeNorm(ksp, k + 1, norm));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
