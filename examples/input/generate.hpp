/// Generated matrices, the same on any number of ranks.
#pragma once

#include <petscmat.h>

/// All names that GenerateMatrix() knows, ended by a null pointer.
extern const char *const GeneratedNames[];

/// Makes the matrix `name` with about `nonzeros` entries, of the type that the options say (-mat_type; default MATAIJ).
/// natural false: values are random with full mantissas, so that a format that compresses few distinct values gains nothing.
/// Collective. Errors: PETSC_ERR_ARG_UNKNOWN_TYPE naming the names known.
PetscErrorCode GenerateMatrix(MPI_Comm comm, const char name[], PetscInt nonzeros, PetscBool natural, Mat *A);
