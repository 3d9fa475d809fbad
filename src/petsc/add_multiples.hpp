/// VecMAXPY(), but for two faults of PETSc's.
#pragma once

#include <petscvec.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// y += the sum of factors[k] x[k], k < count. On a GPU VecMAXPY() of PETSc 3.24 takes factors from unset memory where
/// a process has fewer rows than there are vectors, up to 8, and each call keeps 1.4 kilobytes of the host's memory for
/// good. Logically collective.
inline PetscErrorCode AddMultiples(Vec y, PetscInt count, const PetscScalar *factors, Vec *x)
{
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)y, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (!cuda) {
    PetscCall(VecMAXPY(y, count, factors, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < count; k++) PetscCall(VecAXPY(y, factors[k], x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
