/// PETSc's binary format of a matrix: big-endian integers MAT_FILE_CLASSID, rows, columns, nonzeros (-1: dense, row by
/// row), then the length of each row, all columns, all values.
#pragma once

#include <string>

#include "rows.hpp"

/// Whether `bytes` begins as such a file does.
bool IsPetscBinary(const std::string &bytes);

/// Reads all rows from the content of `file`; O(nonzeros). Unlike MatLoad(), which trusts counts and columns, it checks
/// all of them before it uses them, and takes files of either size of integers and of real and complex values of either
/// precision; the file does not say which, so that follows from its length. Further objects after the matrix are left
/// alone. Errors, naming file, byte and value: PETSC_ERR_FILE_UNEXPECTED, PETSC_ERR_ARG_OUTOFRANGE, PETSC_ERR_SUP.
PetscErrorCode ReadPetscBinary(const char file[], const std::string &bytes, Rows *rows);
