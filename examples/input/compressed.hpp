/// Whole files in memory, decompressed where their first bytes are gzip's or xz's, whatever their name.
#pragma once

#include <string>

#include "petsc/compat.hpp"

/// Sets `bytes` to the content of `file`. On the calling process only.
/// Errors: PETSC_ERR_FILE_OPEN; PETSC_ERR_FILE_READ where the compressed data are damaged or cut, naming the byte of
/// the file.
PetscErrorCode ReadWhole(const char file[], std::string *bytes);
