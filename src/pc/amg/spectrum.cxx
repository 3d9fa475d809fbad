/// The largest eigenvalue of D^-1 A: by Lanczos' method where the matrix lives, or as options under
/// "pc_sparsegpuamg_esteig_" ask, by a Krylov method of PETSc.
#include "pc/aggregate/aggregate.hpp"
#include "pc/amg/hierarchy.hpp"
#include <petscksp.h>

namespace sparsegpu::amg
{

namespace
{
/// As PCGAMG: 5 % from below.
constexpr PetscInt STEPS = 10;

PetscErrorCode AsksForSolver(PC pc, bool *asks)
{
  PetscFunctionBegin;
  *asks = false;
  for (const char *name : {"-pc_sparsegpuamg_esteig_ksp_type", "-pc_sparsegpuamg_esteig_ksp_max_it",
                           "-pc_sparsegpuamg_esteig_ksp_rtol", "-pc_sparsegpuamg_esteig_pc_type"}) {
    PetscBool given;
    PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, name, &given));
    *asks = *asks || given;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSolver(PC pc, Mat A, KSP *ksp)
{
  const char *prefix;
  PetscBool   known = PETSC_FALSE, definite = PETSC_FALSE;
  PC          jacobi;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(*ksp, "pc_sparsegpuamg_esteig_"));
  PetscCall(MatIsSPDKnown(A, &known, &definite));
  PetscCall(KSPSetType(*ksp, known && definite ? KSPCG : KSPGMRES));
  PetscCall(KSPSetErrorIfNotConverged(*ksp, PETSC_FALSE));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, STEPS));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetComputeSingularValues(*ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The random numbers are those of a fixed seed.
PetscErrorCode BySolver(PC pc, Mat A, PetscReal *emax)
{
  KSP         ksp;
  Vec         b, x;
  PetscRandom random;
  PetscReal   emin;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &random));
  PetscCall(VecSetRandom(b, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(CreateSolver(pc, A, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, &emin));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LargestEigenvalue(PC pc, Mat A, PetscReal *emax, LanczosVectors *room)
{
  bool asks;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpectrumEvent, 0, 0, 0, 0));
  PetscCall(AsksForSolver(pc, &asks));
  if (asks)
    PetscCall(BySolver(pc, A, emax));
  else
    PetscCall(EstimateLargestEigenvalue(A, STEPS, emax, room));
  if (!PetscIsNormalReal(*emax) || *emax < 0) *emax = 0;
  PetscCall(PetscInfo(pc, "Largest eigenvalue of D^-1 A: about %g\n", (double)*emax));
  PetscCall(PetscLogEventEnd(SpectrumEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
