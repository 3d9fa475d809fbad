/// The classical recurrence on PETSc's vectors. As many applications of the preconditioner and reductions as PETSc's cg
/// has; an iteration reports and ends as there. The flexible one makes a direction conjugate to the one before, A p of
/// which it keeps, whatever the preconditioner has been: beta = -(A p, z) / (p, A p), one reduction more. Notay, SIAM
/// J. Sci. Comput. 22(4), 2000.
#include <limits>
#include "device/local_array.hpp"
#include "ksp/cg/cg.hpp"
#include "ksp/cg/recurrence.hpp"
#include "ksp/common/converged.hpp"

namespace sparsegpu::cg
{

namespace
{
struct VectorSolve {
  KSP         ksp;
  Mat         A;
  Vec         x, r, z, p, w; ///< w: A p; z unless that is kept
  bool        hermitian, flexible;
  bool        preconditioned = false, dotted = false; ///< z is that of r, and rho = (r, z) is known
  PetscScalar rho = 0;

  PetscErrorCode Begin();
  PetscErrorCode Dot(Vec a, Vec b, PetscScalar *dot) const;
  PetscErrorCode Precondition();
  PetscErrorCode ComputeRho();
  PetscErrorCode ComputeNorm(bool checked, PetscReal *norm);
  PetscErrorCode Turn(PetscScalar beta, PetscScalar curvature);
  PetscErrorCode Iterate(PetscInt k, PetscScalar before, PetscScalar *curvature);
};

PetscErrorCode VectorSolve::Dot(Vec a, Vec b, PetscScalar *dot) const
{
  PetscFunctionBegin;
  PetscCall(hermitian ? VecDot(a, b, dot) : VecTDot(a, b, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = M^-1 r, unless it is there.
PetscErrorCode VectorSolve::Precondition()
{
  PetscFunctionBegin;
  if (!preconditioned) PetscCall(KSP_PCApply(ksp, r, z));
  preconditioned = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode VectorSolve::ComputeRho()
{
  PetscFunctionBegin;
  PetscCall(Precondition());
  if (!dotted) PetscCall(Dot(z, r, &rho));
  dotted = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residual of the first iterate.
PetscErrorCode VectorSolve::Begin()
{
  PetscFunctionBegin;
  if (ksp->guess_zero) {
    PetscCall(VecCopy(ksp->vec_rhs, r));
  } else {
    PetscCall(KSP_MatMult(ksp, A, x, r));
    PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
  }
  if (ksp->reason == KSP_DIVERGED_PC_FAILED) { // on some processes alone: the norm tells the others
    LocalArray entries;
    PetscInt   rows;
    PetscCall(VecGetLocalSize(r, &rows));
    PetscCall(entries.Get(r, Space::Host, Access::Write));
    for (PetscInt k = 0; k < rows; k++) entries.write()[k] = Scalar(PETSC_INFINITY);
    PetscCall(entries.Restore());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not `checked`: the norm is not asked for yet, unless it comes with rho.
PetscErrorCode VectorSolve::ComputeNorm(bool checked, PetscReal *norm)
{
  PetscFunctionBegin;
  *norm = 0;
  switch (ksp->normtype) {
  case KSP_NORM_PRECONDITIONED:
    if (!checked) break;
    PetscCall(Precondition());
    PetscCall(VecNorm(z, NORM_2, norm));
    break;
  case KSP_NORM_UNPRECONDITIONED:
    if (checked) PetscCall(VecNorm(r, NORM_2, norm));
    break;
  case KSP_NORM_NATURAL:
    PetscCall(ComputeRho());
    *norm = PetscSqrtReal(PetscAbsScalar(rho));
    break;
  default: break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The next direction, by the factor for a preconditioner that does not change, or by another one.
PetscErrorCode VectorSolve::Turn(PetscScalar beta, PetscScalar curvature)
{
  PetscScalar dot;

  PetscFunctionBegin;
  if (flexible) {
    PetscCall(Dot(z, w, &dot));
    beta = -dot / curvature;
  }
  PetscCall(VecAYPX(p, beta, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One step from rho; `before` is that of the step before. Leaves a reason where there is no step to be taken.
PetscErrorCode VectorSolve::Iterate(PetscInt k, PetscScalar before, PetscScalar *curvature)
{
  const PetscReal last = PetscRealPart(*curvature);
  Cg             *cg   = CgOf(ksp);

  PetscFunctionBegin;
  if (rho == static_cast<PetscScalar>(0)) {
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "The preconditioned residual is zero\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if !defined(PETSC_USE_COMPLEX)
  if (k > 0 && (rho < 0) != (before < 0)) {
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
    PetscCall(PetscInfo(ksp, "The preconditioner is indefinite: (r, z) has changed its sign\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (k == 0)
    PetscCall(VecCopy(z, p));
  else
    PetscCall(Turn(rho / before, *curvature));
  PetscCall(KSP_MatMult(ksp, A, p, w)); // z is not needed any more
  preconditioned = dotted = false;
  PetscCall(Dot(p, w, curvature));
  if (PetscIsInfOrNanScalar(*curvature)) {
    PetscCall(EndWithNorm(ksp, std::numeric_limits<PetscReal>::quiet_NaN()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscReal now = PetscRealPart(*curvature);
  if (*curvature == static_cast<PetscScalar>(0) || (k > 0 && ((now < 0 && last > 0) || (now > 0 && last < 0)))) {
    PetscCall(EndWithCurvature(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscScalar alpha = rho / *curvature;
  if (ksp->calc_sings && !flexible) { // of a flexible one there is no such recurrence
    PetscCallCXX(cg->alpha.push_back(PetscRealPart(alpha)));
    PetscCallCXX(cg->rho.push_back(PetscRealPart(rho)));
  }
  PetscCall(VecAXPY(x, alpha, p));
  PetscCall(VecAXPY(r, -alpha, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SolveOnVectors(KSP ksp)
{
  constexpr int WORKS    = 4;
  const bool    flexible = CgOf(ksp)->flexible;
  VectorSolve   solve{};
  PetscScalar   before = 0, curvature = 0;
  PetscReal     norm;
  PetscInt      k = 0;

  PetscFunctionBegin;
  if (flexible && ksp->nwork < WORKS) PetscCall(KSPSetWorkVecs(ksp, WORKS));
  Vec *const work = ksp->work;
  solve           = VectorSolve{
      ksp,     nullptr, ksp->vec_sol, work[0], work[1], work[2], flexible ? work[3] : work[1], CgOf(ksp)->hermitian,
      flexible};
  PetscCall(PCGetOperators(ksp->pc, &solve.A, nullptr));
  PetscCall(solve.Begin());
  PetscCall(solve.ComputeNorm(true, &norm));
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(EndWithNorm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeNorm(ksp, 0, norm));
  while (!ksp->reason && (k == 0 || k < ksp->max_it)) { // PETSc's cg takes a step before it looks at the limit
    PetscCall(solve.ComputeRho());
    if (PetscIsInfOrNanScalar(solve.rho)) {
      PetscCall(EndWithNorm(ksp, std::numeric_limits<PetscReal>::quiet_NaN()));
      break;
    }
    ksp->its                = k + 1;
    const PetscScalar first = solve.rho;
    PetscCall(solve.Iterate(k, before, &curvature));
    if (ksp->reason) break;
    before = first;
    PetscCall(solve.ComputeNorm(ksp->chknorm < k + 2, &norm));
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(EndWithNorm(ksp, norm));
      break;
    }
    PetscCall(TakeNorm(ksp, ++k, norm));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
