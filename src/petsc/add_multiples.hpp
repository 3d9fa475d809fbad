/// VecMAXPY(), but for a fault of PETSc's.
#pragma once

#include <petscvec.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// y += the sum of factors[k] x[k], k < count. On a GPU VecMAXPY() of PETSc 3.24 takes factors from unset memory where
/// a process has fewer rows than there are vectors, up to 8. Logically collective.
inline PetscErrorCode AddMultiples(Vec y, PetscInt count, const PetscScalar *factors, Vec *x)
{
  const PetscInt *begin;
  PetscMPIInt     size;
  PetscBool       cuda;
  bool            many = true;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)y, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (cuda) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)y), &size));
    PetscCall(VecGetOwnershipRanges(y, &begin));
    for (PetscMPIInt rank = 0; rank < size; rank++) many = many && begin[rank + 1] - begin[rank] >= PetscMin(count, 8);
  }
  if (many) {
    PetscCall(VecMAXPY(y, count, factors, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < count; k++) PetscCall(VecAXPY(y, factors[k], x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
