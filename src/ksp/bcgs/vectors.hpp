/// What the recurrences on PETSc's vectors have in common.
#pragma once

#include <petscksp.h>
#include "ksp/bcgs/recurrence.hpp"

namespace sparsegpu::bcgs
{

inline Scalar ToScalar(PetscScalar v)
{
  Scalar s(PetscRealPart(v));
#if defined(PETSC_USE_COMPLEX)
  s.im = PetscImaginaryPart(v);
#endif
  return s;
}
inline PetscScalar FromScalar(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(v.re, v.im);
#else
  return v;
#endif
}

/// r = the residual that the solve begins with, preconditioned from the left; v and t are scratch. Infinite where the
/// preconditioner has failed.
PetscErrorCode ComputeResidual(KSP ksp, Vec v, Vec t, Vec r);
/// The shadow residual after a step that restarts from r.
PetscErrorCode SetShadow(const WholeStep &step, Vec r, Vec shadow);

} // namespace sparsegpu::bcgs
