/// The accessor hooks of a sequential AIJ matrix: what MatSeqAIJGetArray() and its family call in place of handing out
/// the array, where they are set. Plain AIJ leaves them null. PETSc's header for them is private and its layout differs
/// between versions, so that their place is found at run time, on a matrix made for that, and tried there.
#pragma once

#include <petscmat.h>

namespace sparsegpu
{

struct AccessorHooks {
  PetscErrorCode (*getarray)(Mat, PetscScalar **);
  PetscErrorCode (*restorearray)(Mat, PetscScalar **);
  PetscErrorCode (*getarrayread)(Mat, const PetscScalar **);
  PetscErrorCode (*restorearrayread)(Mat, const PetscScalar **);
  PetscErrorCode (*getarraywrite)(Mat, PetscScalar **);
  PetscErrorCode (*restorearraywrite)(Mat, PetscScalar **);
  PetscErrorCode (*getcsrandmemtype)(Mat, const PetscInt **, const PetscInt **, PetscScalar **, PetscMemType *);
};

/// Those of A, of a type derived from SEQAIJ; null where this PETSc has them elsewhere or not at all.
PetscErrorCode HooksOf(Mat A, AccessorHooks **hooks);

} // namespace sparsegpu
