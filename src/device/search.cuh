/// Searches of ascending arrays by one thread.
#pragma once

#include "device/search.hpp"

namespace sparsegpu
{

/// The index of `column` in columns[begin .. end), ascending; -1 if it is not there.
__device__ __forceinline__ PetscInt find_column(const PetscInt *columns, PetscInt begin, PetscInt end, PetscInt column)
{
  const PetscInt at = lower_bound(columns, begin, end, column);
  return at < end && columns[at] == column ? at : -1;
}

} // namespace sparsegpu
