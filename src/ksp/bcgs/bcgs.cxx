/// KSPSPARSEGPUBCGS: options, view, creation and destruction.
#include "ksp/bcgs/bcgs.hpp"

namespace sparsegpu::bcgs
{

namespace
{
PetscErrorCode KSPSetUp_SparseGPUBCGS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetWorkVecs(ksp, VECTORS_ON_ARRAYS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_SparseGPUBCGS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(DeviceOrder()); // for PETSc, which frees the work vectors
  PetscCall(BcgsOf(ksp)->arrays.Free());
  PetscCall(BcgsOf(ksp)->small.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_SparseGPUBCGS(KSP ksp, SparseGPUOptionItems PetscOptionsObject)
{
  PetscInt  ell   = BcgsOf(ksp)->ell;
  PetscEnum small = static_cast<PetscEnum>(BcgsOf(ksp)->small_mode);

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP sparsegpubcgs options");
  PetscCall(PetscOptionsInt("-ksp_sparsegpubcgs_ell", "Degree of the minimisation, BiCGStab(l)", "KSPSPARSEGPUBCGS",
                            ell, &ell, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_sparsegpubcgs_persistent",
                             "Many iterations in one launch, of systems that are small", "KSPSPARSEGPUBCGS", SmallModes,
                             small, &small, nullptr));
  PetscOptionsHeadEnd();
  PetscCheck(ell >= 1 && ell <= MOST_ELL, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_sparsegpubcgs_ell %" PetscInt_FMT " must be from 1 to %" PetscInt_FMT, ell, MOST_ELL);
  BcgsOf(ksp)->ell        = ell;
  BcgsOf(ksp)->small_mode = static_cast<SmallMode>(small);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_SparseGPUBCGS(KSP ksp, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (BcgsOf(ksp)->ell > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  l = %" PetscInt_FMT "\n", BcgsOf(ksp)->ell));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", BcgsOf(ksp)->way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_SparseGPUBCGS(KSP ksp, Vec v, Vec *V)
{
  const Vec to     = v ? v : ksp->work[1]; // on the host, where such a solve does not go
  bool      stored = false;

  PetscFunctionBegin;
  PetscCall(BcgsOf(ksp)->arrays.Store(to, &stored));
  if (!stored && v) PetscCall(VecCopy(ksp->vec_sol, v));
  if (V) *V = stored || v ? to : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_SparseGPUBCGS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_SparseGPUBCGS(ksp));
  delete BcgsOf(ksp);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_SparseGPUBCGS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new Bcgs);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  ksp->ops->setup          = KSPSetUp_SparseGPUBCGS;
  ksp->ops->solve          = KSPSolve_SparseGPUBCGS;
  ksp->ops->setfromoptions = KSPSetFromOptions_SparseGPUBCGS;
  ksp->ops->view           = KSPView_SparseGPUBCGS;
  ksp->ops->reset          = KSPReset_SparseGPUBCGS;
  ksp->ops->destroy        = KSPDestroy_SparseGPUBCGS;
  ksp->ops->buildsolution  = KSPBuildSolution_SparseGPUBCGS;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
