/// What some versions of PETSc alone have in a KSP.
#pragma once

#include <petsc/private/kspimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

/// Whether the system is scaled by a diagonal beside the preconditioner: KSPSetDiagonalScale(), until 3.25.
inline PetscErrorCode ScalesDiagonal(KSP ksp, PetscBool *scales)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 26, 0)
  PetscCall(PCGetDiagonalScale(ksp->pc, scales));
  if (ksp->dscale) *scales = PETSC_TRUE;
#else
  (void)ksp;
  *scales = PETSC_FALSE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscLogEvent OrthogonalizationEvent()
{
#if PETSC_VERSION_LT(3, 26, 0)
  return KSP_GMRESOrthogonalization;
#else
  return KSP_Orthogonalization;
#endif
}

} // namespace sparsegpu::ksp
