/// Entries of a pattern as numbers to sort, for the kernels that put patterns together.
#pragma once

#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

using Key = unsigned long long; ///< row << bits | column

/// Bits of a column in a key. Errors: PETSC_ERR_ARG_OUTOFRANGE if two do not fit.
static inline PetscErrorCode ColumnBits(PetscInt rows, int *bits)
{
  PetscFunctionBegin;
  PetscCheck(rows <= 0x7fffffff, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " rows, more than a key has room for", rows);
  *bits = 1;
  while (*bits < 31 && (rows - 1) >> *bits) (*bits)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
