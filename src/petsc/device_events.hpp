/// Events of PETSc's that nobody waits for.
#pragma once

#include <petscvec.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// On a GPU VecMDot() and VecMAXPY() take device memory of PETSc's, of which it keeps events, a kilobyte each time,
/// until its context is synchronised: PETSc 3.24 does not do so. To be called after many of such operations on vectors
/// like v. Waits for the device. Not collective.
inline PetscErrorCode ReleaseEvents(Vec v)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscBool          cuda;
  PetscDeviceContext context;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
#else
  (void)v;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
