/// The largest eigenvalue of D^-1 A by a few steps of conjugate gradients or GMRES, from a vector that depends on the
/// row's number alone: the same on any number of processes.
#include "pc/amg/hierarchy.hpp"
#include <petscksp.h>

namespace sparsegpu::amg
{

namespace
{
/// Values in (-1, 1), of row numbers by splitmix64 (Steele et al. 2014).
PetscErrorCode SetNoise(Vec v)
{
  PetscInt     begin, end;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &x));
  for (PetscInt r = begin; r < end; r++) {
    unsigned long long h = ((unsigned long long)r + 1) * 0x9e3779b97f4a7c15ull;
    h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h                    = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    h ^= h >> 31;
    x[r - begin] = (PetscReal)((double)(h >> 11) / (double)(1ull << 52) - 1);
  }
  PetscCall(VecRestoreArrayWrite(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateEstimator(PC pc, Mat A, KSP *ksp)
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
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 10)); // as PCGAMG
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetComputeSingularValues(*ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LargestEigenvalue(PC pc, Mat A, PetscReal *emax)
{
  KSP       ksp;
  Vec       b, x;
  PetscReal emin;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpectrumEvent, 0, 0, 0, 0));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(SetNoise(b));
  PetscCall(CreateEstimator(pc, A, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, &emin));
  if (!PetscIsNormalReal(*emax) || *emax < 0) *emax = 0;
  PetscCall(PetscInfo(pc, "Largest eigenvalue of D^-1 A, from below: %g\n", (double)*emax));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscLogEventEnd(SpectrumEvent, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
