/// Matrices from files.
#pragma once

#include "petsc/compat.hpp"

#include <petscmat.h>

/// Reads the matrix of `file`: MatrixMarket or PETSc binary, plain, .gz or .xz, which its first bytes tell, not its
/// name. Its type is what the options say (-mat_type; default MATAIJ). Rank 0 reads and sends the others their rows;
/// all ranks return its error code. Collective. Errors: those of ReadWhole(), ReadMatrixMarket() and ReadPetscBinary().
PetscErrorCode LoadMatrix(MPI_Comm comm, const char file[], Mat *A);
