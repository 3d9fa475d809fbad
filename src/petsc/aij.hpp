/// What preconditioners ask of their matrix.
#pragma once

#include <petscpc.h>
#include "petsc/compat.hpp"

/// Errors: PETSC_ERR_SUP if the matrix that `pc` is made of is no AIJ; `type` is the name of the preconditioner.
inline PetscErrorCode CheckAij(PC pc, const char type[])
{
  PetscBool seq, mpi;
  Mat       P;
  MatType   matrix;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, nullptr, &P));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATMPIAIJ, &mpi));
  PetscCall(MatGetType(P, &matrix));
  PetscCheck(seq || mpi, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type %s takes matrices of type aij or derived from it, not %s: see MatConvert()", type, matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}
