/// KSPSPARSEGPUCG: options, composed functions, view, creation and destruction.
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

namespace
{
enum Vectors {
  WORK_VECTORS = 3 ///< residual, preconditioned residual or product, direction
};

PetscErrorCode KSPSetUp_SparseGPUCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetWorkVecs(ksp, WORK_VECTORS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_SparseGPUCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(DeviceOrder()); // for PETSc, which frees the work vectors
  PetscCall(CgOf(ksp)->arrays.Free());
  PetscCall(CgOf(ksp)->small.Free());
  PetscCall(CgOf(ksp)->many.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetType(KSP ksp, KSPCGType type)
{
  PetscFunctionBegin;
#if defined(PETSC_USE_COMPLEX)
  CgOf(ksp)->hermitian = type == KSP_CG_HERMITIAN;
#else
  CgOf(ksp)->hermitian = true; // as symmetric is
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const Kinds[] = {"cg", "cr"};

PetscErrorCode KSPSetFromOptions_SparseGPUCG(KSP ksp, SparseGPUOptionItems PetscOptionsObject)
{
  PetscEnum type =
      CgOf(ksp)->hermitian ? static_cast<PetscEnum>(KSP_CG_HERMITIAN) : static_cast<PetscEnum>(KSP_CG_SYMMETRIC);
  PetscEnum small    = static_cast<PetscEnum>(CgOf(ksp)->small_mode);
  PetscEnum many     = static_cast<PetscEnum>(CgOf(ksp)->many_mode);
  PetscInt  kind     = CgOf(ksp)->residuals ? 1 : 0;
  PetscBool flexible = CgOf(ksp)->flexible ? PETSC_TRUE : PETSC_FALSE;
  PetscBool block    = CgOf(ksp)->block ? PETSC_TRUE : PETSC_FALSE;
  PetscBool given    = PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP sparsegpucg options");
  PetscCall(PetscOptionsEnum("-ksp_sparsegpucg_persistent", "Many iterations in one launch, of systems that are small",
                             "KSPSPARSEGPUCG", SmallModes, small, &small, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_sparsegpucg_together", "The right-hand sides of KSPMatSolve() at a time",
                             "KSPSPARSEGPUCG", SmallModes, many, &many, nullptr));
  PetscCall(PetscOptionsBool("-ksp_sparsegpucg_block", "One Krylov space for the right-hand sides of KSPMatSolve()",
                             "KSPSPARSEGPUCG", block, &block, nullptr));
  PetscCall(PetscOptionsEList("-ksp_sparsegpucg_type", "Conjugate gradients or conjugate residuals", "KSPSPARSEGPUCG",
                              Kinds, 2, Kinds[kind], &kind, nullptr));
  PetscCall(PetscOptionsBool("-ksp_sparsegpucg_flexible", "The preconditioner may change from step to step",
                             "KSPSPARSEGPUCG", flexible, &flexible, nullptr));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(PetscOptionsEnum("-ksp_cg_type", "Matrix is Hermitian or complex symmetric", "KSPCGSetType", KSPCGTypes,
                             type, &type, &given));
#endif
  PetscOptionsHeadEnd();
  PetscCheck(kind == 0 || !flexible, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
             "-ksp_sparsegpucg_type cr has no flexible form: leave -ksp_sparsegpucg_flexible out, or take cg");
  CgOf(ksp)->residuals  = kind == 1;
  CgOf(ksp)->flexible   = flexible;
  CgOf(ksp)->block      = block;
  CgOf(ksp)->small_mode = static_cast<SmallMode>(small);
  CgOf(ksp)->many_mode  = static_cast<SmallMode>(many);
  if (given) PetscCall(SetType(ksp, static_cast<KSPCGType>(type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_SparseGPUCG(KSP ksp, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", CgOf(ksp)->way));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(PetscViewerASCIIPrintf(viewer, "  variant %s\n",
                                   KSPCGTypes[CgOf(ksp)->hermitian ? KSP_CG_HERMITIAN : KSP_CG_SYMMETRIC]));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_SparseGPUCG(KSP ksp, Vec v, Vec *V)
{
  const Vec to     = v ? v : ksp->work[1]; // on the host, where such a solve does not go
  bool      stored = false;

  PetscFunctionBegin;
  PetscCall(CgOf(ksp)->arrays.Store(to, &stored));
  if (!stored && v) PetscCall(VecCopy(ksp->vec_sol, v));
  if (V) *V = stored || v ? to : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_SparseGPUCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_SparseGPUCG(ksp));
  delete CgOf(ksp);
  ksp->data = nullptr;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_SparseGPUCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new Cg);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = KSPSetUp_SparseGPUCG;
  ksp->ops->solve          = KSPSolve_SparseGPUCG;
  ksp->ops->matsolve       = KSPMatSolve_SparseGPUCG;
  ksp->ops->setfromoptions = KSPSetFromOptions_SparseGPUCG;
  ksp->ops->view           = KSPView_SparseGPUCG;
  ksp->ops->reset          = KSPReset_SparseGPUCG;
  ksp->ops->destroy        = KSPDestroy_SparseGPUCG;
  ksp->ops->buildsolution  = KSPBuildSolution_SparseGPUCG;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;

  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_SparseGPUCG;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_SparseGPUCG;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", SetType));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
