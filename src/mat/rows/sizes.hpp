/// Sizes that PetscInt may not hold although it holds those of the matrix: computed in 64 bits, refused by name.
#pragma once

#include <vector>
#include <petscsys.h>
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

/// Entries of `width` columns of `rows` rows, padded to whole warps: width * EllPitch(rows). Exact up to 2^53.
inline PetscLogDouble PaddedEntries(PetscInt rows, PetscLogDouble width)
{
  return width * static_cast<PetscLogDouble>((static_cast<PetscCount>(rows) + 31) / 32 * 32);
}
inline bool FitsPetscInt(PetscLogDouble entries)
{
  return entries <= static_cast<PetscLogDouble>(PETSC_MAX_INT);
}

/// (*offset)[k] = the sum of (*offset)[0 .. k], counts before. Errors: PETSC_ERR_ARG_OUTOFRANGE naming the whole sum,
/// of `what`.
inline PetscErrorCode CheckedOffsets(const char what[], std::vector<PetscInt> *offset)
{
  PetscCount sum = 0;

  PetscFunctionBegin;
  for (const PetscInt count : *offset) sum += count;
  PetscCheck(sum <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: %lld are more than the %lld that PetscInt counts; configure PETSc with 64-bit indices", what,
             static_cast<long long>(sum), static_cast<long long>(PETSC_MAX_INT));
  for (size_t k = 1; k < offset->size(); k++) (*offset)[k] += (*offset)[k - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
