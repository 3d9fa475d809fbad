/// KSPSPARSEGPUGMRES: options, composed functions, view, creation and destruction.
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

namespace
{
PetscErrorCode KSPSetUp_SparseGPUGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetWorkVecs(ksp, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_SparseGPUGMRES(KSP ksp)
{
  Gmres *gmres = GmresOf(ksp);

  PetscFunctionBegin;
  PetscCall(DeviceOrder()); // for PETSc, which frees the work vectors
  PetscCall(gmres->arnoldi.Free());
  PetscCall(gmres->basis.Free());
  PetscCall(gmres->preconditioned.Free());
  PetscCall(gmres->deflated.Free());
  PetscCall(gmres->system.Free());
  PetscCall(gmres->small.Free());
  PetscCall(gmres->many.Free());
  PetscCall(gmres->iterate.Free());
  PetscCall(VecDestroy(&gmres->solution));
  gmres->built = gmres->known = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckRestart(KSP ksp, PetscInt restart)
{
  PetscFunctionBegin;
  PetscCheck(restart >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "The restart %" PetscInt_FMT " must be positive", restart);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode CheckDeflation(KSP ksp, PetscInt deflation, PetscInt restart, bool single_basis)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);

  PetscFunctionBegin;
  PetscCheck(deflation >= 0 && deflation <= MOST_KEPT, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A restart keeps 0 to %" PetscInt_FMT " vectors, not %" PetscInt_FMT, MOST_KEPT, deflation);
  PetscCheck(deflation <= restart / 2, comm, PETSC_ERR_ARG_INCOMP,
             "A restart of %" PetscInt_FMT " keeps half of its vectors at most, not %" PetscInt_FMT, restart,
             deflation);
  PetscCheck(deflation == 0 || !single_basis, comm, PETSC_ERR_SUP,
             "A restart keeps vectors of a basis in double precision only: -ksp_sparsegpugmres_basis double");
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode CheckTolerance(KSP ksp, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCheck(tolerance >= 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "The tolerance %g must be non-negative", (double)tolerance);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetRestart(KSP ksp, PetscInt restart)
{
  PetscFunctionBegin;
  PetscCall(CheckRestart(ksp, restart));
  GmresOf(ksp)->restart = restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetRestart(KSP ksp, PetscInt *restart)
{
  PetscFunctionBegin;
  *restart = GmresOf(ksp)->restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetHappyTolerance(KSP ksp, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCall(CheckTolerance(ksp, tolerance));
  GmresOf(ksp)->happy_tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetBreakdownTolerance(KSP ksp, PetscReal tolerance)
{
  PetscFunctionBegin;
  if (tolerance == static_cast<PetscReal>(PETSC_DEFAULT)) tolerance = 0.1;
  PetscCall(CheckTolerance(ksp, tolerance));
  GmresOf(ksp)->breakdown_tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The whole basis is in one piece from the beginning.
PetscErrorCode PreAllocate(KSP)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// What can be asked for: the norm that a side computes anyway; a flexible one knows only the right side.
PetscErrorCode SupportNorms(KSP ksp)
{
  const PetscInt left = GmresOf(ksp)->flexible ? 0 : 1;

  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 4 * left));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_SYMMETRIC, 2 * left));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const Bases[] = {"double", "single"};

PetscErrorCode KSPSetFromOptions_SparseGPUGMRES(KSP ksp, SparseGPUOptionItems PetscOptionsObject)
{
  Gmres     *gmres   = GmresOf(ksp);
  PetscInt   restart = gmres->restart, deflation = gmres->deflation;
  PetscReal  happy = gmres->happy_tolerance, breakdown = gmres->breakdown_tolerance;
  PetscBool  automatic   = gmres->restart_auto ? PETSC_TRUE : PETSC_FALSE;
  PetscBool  flexible    = gmres->flexible ? PETSC_TRUE : PETSC_FALSE;
  PetscEnum  small       = static_cast<PetscEnum>(gmres->small_mode);
  PetscEnum  many        = static_cast<PetscEnum>(gmres->many_mode);
  PetscInt   basis       = gmres->single_basis ? 1 : 0;
  PetscBool  preallocate = PETSC_FALSE;
  Refinement refinement  = gmres->refinement;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP sparsegpugmres options");
  PetscCall(PetscOptionsInt("-ksp_gmres_restart", "Number of Krylov search directions", "KSPGMRESSetRestart", restart,
                            &restart, nullptr));
  PetscCall(PetscOptionsBool("-ksp_sparsegpugmres_restart_auto", "After one cycle, the restart that it suggests",
                             "KSPSPARSEGPUGMRES", automatic, &automatic, nullptr));
  PetscCall(PetscOptionsInt("-ksp_sparsegpugmres_deflation", "Vectors that a restart keeps, of the slowest parts",
                            "KSPSPARSEGPUGMRES", deflation, &deflation, nullptr));
  PetscCall(PetscOptionsBool("-ksp_sparsegpugmres_flexible", "The preconditioner may change from step to step",
                             "KSPSPARSEGPUGMRES", flexible, &flexible, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_sparsegpugmres_persistent", "Whole cycles in one launch, of systems that are small",
                             "KSPSPARSEGPUGMRES", SmallModes, small, &small, nullptr));
  PetscCall(PetscOptionsEnum("-ksp_sparsegpugmres_together", "The right-hand sides of KSPMatSolve() at a time",
                             "KSPSPARSEGPUGMRES", SmallModes, many, &many, nullptr));
  PetscCall(PetscOptionsEList("-ksp_sparsegpugmres_basis", "How the basis is stored", "KSPSPARSEGPUGMRES", Bases, 2,
                              Bases[basis], &basis, nullptr));
  PetscCall(PetscOptionsReal("-ksp_gmres_haptol", "Tolerance for exact convergence (happy ending)", "KSPGMRESSetHapTol",
                             happy, &happy, nullptr));
  PetscCall(PetscOptionsReal("-ksp_gmres_breakdown_tolerance", "Divergence breakdown tolerance during GMRES restart",
                             "KSPGMRESSetBreakdownTolerance", breakdown, &breakdown, nullptr));
  PetscCall(PetscOptionsBool("-ksp_gmres_preallocate", "The basis is always allocated in one piece",
                             "KSPGMRESSetPreAllocateVectors", preallocate, &preallocate, nullptr));
  PetscCall(RefinementFromOptions(PetscOptionsObject, &refinement));
  PetscOptionsHeadEnd();
  PetscCall(CheckRestart(ksp, restart)); // bad values leave all as it was
  PetscCall(CheckDeflation(ksp, deflation, restart, basis == 1));
  PetscCall(CheckTolerance(ksp, happy));
  if (breakdown != static_cast<PetscReal>(PETSC_DEFAULT)) PetscCall(CheckTolerance(ksp, breakdown));
  gmres->refinement   = refinement;
  gmres->small_mode   = static_cast<SmallMode>(small);
  gmres->many_mode    = static_cast<SmallMode>(many);
  gmres->single_basis = basis == 1;
  gmres->deflation    = deflation;
  gmres->restart_auto = automatic;
  gmres->flexible     = flexible;
  PetscCall(SetRestart(ksp, restart));
  PetscCall(SetHappyTolerance(ksp, happy));
  PetscCall(SetBreakdownTolerance(ksp, breakdown));
  PetscCall(SupportNorms(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_SparseGPUGMRES(KSP ksp, PetscViewer viewer)
{
  Gmres     *gmres = GmresOf(ksp);
  Refinement refinement;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetRefinement(ksp, &refinement));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  restart=%" PetscInt_FMT "%s%s, classical Gram-Schmidt, %s\n",
                                   gmres->restart, gmres->restart_auto ? ", then as one cycle suggests" : "",
                                   gmres->flexible ? ", flexible" : "", NameOf(refinement)));
  if (gmres->deflation)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  a restart keeps up to %" PetscInt_FMT " vectors (deflation)\n",
                                     gmres->deflation));
  if (gmres->together) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", gmres->together));
  if (gmres->basis.count())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  basis of %" PetscInt_FMT " vectors on the %s%s\n",
                                     gmres->arnoldi.narrow() ? gmres->arnoldi.steps() + 1 : gmres->basis.count(),
                                     gmres->basis.space() == Space::Device ? "GPU" : "host",
                                     gmres->arnoldi.narrow() ? ", in single precision" : ""));
  if (gmres->small.active()) PetscCall(PetscViewerASCIIPrintf(viewer, "  whole cycles in one launch\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Composed {
  const char *name;
  void (*function)(void);
};
const Composed COMPOSED[] = {
    {"KSPGMRESSetRestart_C", (void (*)(void))SetRestart},
    {"KSPGMRESGetRestart_C", (void (*)(void))GetRestart},
    {"KSPGMRESSetHapTol_C", (void (*)(void))SetHappyTolerance},
    {"KSPGMRESSetBreakdownTolerance_C", (void (*)(void))SetBreakdownTolerance},
    {"KSPGMRESSetPreAllocateVectors_C", (void (*)(void))PreAllocate},
};

PetscErrorCode KSPDestroy_SparseGPUGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_SparseGPUGMRES(ksp));
  delete GmresOf(ksp);
  ksp->data = nullptr;
  for (const Composed &c : COMPOSED) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, c.name, nullptr));
  PetscCall(ComposeRefinement(ksp, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_SparseGPUGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new Gmres);
  PetscCall(SupportNorms(ksp));
  ksp->ops->setup          = KSPSetUp_SparseGPUGMRES;
  ksp->ops->solve          = KSPSolve_SparseGPUGMRES;
  ksp->ops->matsolve       = KSPMatSolve_SparseGPUGMRES;
  ksp->ops->setfromoptions = KSPSetFromOptions_SparseGPUGMRES;
  ksp->ops->view           = KSPView_SparseGPUGMRES;
  ksp->ops->reset          = KSPReset_SparseGPUGMRES;
  ksp->ops->destroy        = KSPDestroy_SparseGPUGMRES;
  ksp->ops->buildsolution  = KSPBuildSolution_SparseGPUGMRES;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;

  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_SparseGPUGMRES;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_SparseGPUGMRES;
  for (const Composed &c : COMPOSED) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, c.name, c.function));
  PetscCall(ComposeRefinement(ksp, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
