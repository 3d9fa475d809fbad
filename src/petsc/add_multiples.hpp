/// VecMAXPY(), but for a fault of PETSc's.
#pragma once

#include <petscvec.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// y += the sum of factors[k] x[k], k < count. On a GPU VecMAXPY() of PETSc 3.24 takes factors from unset memory where
/// a process has fewer rows than there are vectors, up to 8. Not collective.
inline PetscErrorCode AddMultiples(Vec y, PetscInt count, const PetscScalar *factors, Vec *x)
{
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &rows));
  if (rows >= PetscMin(count, 8)) {
    PetscCall(VecMAXPY(y, count, factors, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < count; k++) PetscCall(VecAXPY(y, factors[k], x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
