/// Generated matrices, the same on any number of ranks.
#pragma once

#include <petscmat.h>

/// All names that GenerateMatrix() knows, ended by a null pointer.
extern const char *const GeneratedNames[];

/// Makes the matrix `name` with at least `nonzeros` entries, where that is not very few, and not many more, of the type
/// that the options say (-mat_type; default MATAIJ). natural true: the values that such a problem has, which are few
/// (-1 and 4, ...) and flatter a format that compresses values. natural false: the same scaled to D A E with random
/// diagonal D and E, D = E where A is square: values of full mantissa, all different; symmetry and definiteness stay.
/// Another seed makes other random places and values. Collective. Errors: PETSC_ERR_ARG_UNKNOWN_TYPE naming the names
/// known.
PetscErrorCode GenerateMatrix(MPI_Comm comm, const char name[], PetscInt nonzeros, PetscBool natural, Mat *A,
                              PetscInt seed = 0);
