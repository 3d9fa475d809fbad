/// Residual, operator and correction: through PETSc's vectors, or on arrays of the device.
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode ComputeResidual(KSP ksp, PetscReal *norm)
{
  Gmres         *gmres = GmresOf(ksp);
  const PetscInt first = gmres->deflated.kept();
  bool           sums = gmres->arnoldi.ranks() || first > 0, inside = false;
  Vec            r;

  PetscFunctionBegin;
  gmres->arnoldi.SetKept(first, gmres->deflated.operands());
  if (gmres->system.active()) {
    PetscCall(gmres->system.Residual(ksp->guess_zero, gmres->basis.view().Column(first)));
    PetscCall(gmres->arnoldi.Normalize(norm, &inside));
  } else {
    PetscCall(gmres->basis.Write(first, &r));
    PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[0], ksp->work[1], r, ksp->vec_rhs));
    if (!sums) PetscCall(VecNormalize(r, norm));
    PetscCall(gmres->basis.WriteEnd(first));
    if (sums) PetscCall(gmres->arnoldi.Normalize(norm, &inside));
    if (first > 0) PetscCall(gmres->basis.Changed(first));
  }
  if (inside) { // what is kept does not belong to this residual
    gmres->deflated.Forget();
    PetscCall(ComputeResidual(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (gmres->arnoldi.narrow() && !gmres->system.active()) {
    PetscCall(gmres->arnoldi.TakeFirst());
    PetscCall(gmres->basis.Changed(0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddCorrection(KSP ksp, PetscInt steps)
{
  Gmres *gmres = GmresOf(ksp);

  PetscFunctionBegin;
  if (steps == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (gmres->system.active()) {
    const DeviceSystem &system = gmres->system;
    Scalar             *x;
    PetscCall(gmres->system.Solution(&x));
    PetscCall(gmres->arnoldi.Combine(steps, &gmres->basis, system.right() ? system.inverse() : nullptr, x, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(gmres->arnoldi.Combine(steps, OperandsOf(gmres), ksp->work[0]));
  if (!gmres->flexible) PetscCall(KSPUnwindPreconditioner(ksp, ksp->work[0], ksp->work[1]));
  PetscCall(VecAXPY(ksp->vec_sol, 1, ksp->work[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// v = the iterate of a solve on arrays of the device.
static PetscErrorCode StoreIterate(Gmres *gmres, Vec v)
{
  DeviceSystem *system = &gmres->system;
  Scalar       *x, *sum;

  PetscFunctionBegin;
  PetscCall(system->Solution(&x));
  sum = x;
  if (gmres->built > 0) {
    PetscCall(gmres->iterate.Reserve(static_cast<size_t>(system->rows()) * sizeof(Scalar)));
    sum = static_cast<Scalar *>(gmres->iterate.data());
    PetscCall(
        gmres->arnoldi.Combine(gmres->built, &gmres->basis, system->right() ? system->inverse() : nullptr, x, sum));
  }
  PetscCall(system->Store(sum, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_SparseGPUGMRES(KSP ksp, Vec v, Vec *V)
{
  Gmres *gmres = GmresOf(ksp);

  PetscFunctionBegin;
  if (!v) {
    if (!gmres->solution) PetscCall(VecDuplicate(ksp->vec_sol, &gmres->solution));
    v = gmres->solution;
  }
  if (V) *V = v;
  if (gmres->system.active()) {
    PetscCall(StoreIterate(gmres, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCopy(ksp->vec_sol, v));
  if (gmres->built == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(gmres->arnoldi.Combine(gmres->built, OperandsOf(gmres), ksp->work[0]));
  if (!gmres->flexible) PetscCall(KSPUnwindPreconditioner(ksp, ksp->work[0], ksp->work[1]));
  PetscCall(VecAXPY(v, 1, ksp->work[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyOperator(KSP ksp, PetscInt k)
{
  Gmres         *gmres = GmresOf(ksp);
  const PetscInt last = gmres->arnoldi.Slot(k), next = gmres->arnoldi.Slot(k + 1);
  Vec            from, to, between;

  PetscFunctionBegin;
  if (gmres->system.active()) {
    const Dense V = gmres->basis.view();
    PetscCall(gmres->system.Apply(V.Column(last), V.Column(next)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(gmres->basis.Read(last, &from));
  PetscCall(gmres->basis.Write(next, &to));
  if (gmres->flexible) {
    Mat A;
    PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
    PetscCall(gmres->preconditioned.Write(k, &between));
    PetscCall(KSP_PCApply(ksp, from, between));
    PetscCall(gmres->preconditioned.WriteEnd(k));
    PetscCall(KSP_MatMult(ksp, A, between, to));
  } else {
    PetscCall(KSP_PCApplyBAorAB(ksp, from, to, ksp->work[0]));
  }
  PetscCall(gmres->basis.WriteEnd(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
