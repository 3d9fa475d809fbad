/// The MatrixMarket exchange format: coordinate and array; real, integer, unsigned-integer, complex and pattern;
/// general, symmetric, skew-symmetric and hermitian. Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats",
/// NISTIR 5935, 1996.
#pragma once

#include <string>

#include "rows.hpp"

/// Reads all rows from the text of `file`; O(nonzeros). Symmetric files give both triangles, entries of the same place
/// are added up, zeros of an array are dropped. Memory is taken only for counts that the text is long enough for.
/// Errors, naming file, line and value: PETSC_ERR_FILE_UNEXPECTED where the text breaks the format;
/// PETSC_ERR_ARG_OUTOFRANGE where an index leaves its range or a number its type; PETSC_ERR_SUP where this PETSc cannot
/// hold it.
PetscErrorCode ReadMatrixMarket(const char file[], const std::string &text, Rows *rows);
