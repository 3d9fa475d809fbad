/// Searches of ascending arrays by one thread.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu
{

/// First k of begin <= k < end with a[k] >= value, else end; a ascends.
template <class T> __device__ __forceinline__ PetscInt lower_bound(const T *a, PetscInt begin, PetscInt end, T value)
{
  while (begin < end) {
    const PetscInt middle = begin + (end - begin) / 2;
    if (a[middle] < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// The index of `column` in columns[begin .. end), ascending; -1 if it is not there.
__device__ __forceinline__ PetscInt find_column(const PetscInt *columns, PetscInt begin, PetscInt end, PetscInt column)
{
  const PetscInt at = lower_bound(columns, begin, end, column);
  return at < end && columns[at] == column ? at : -1;
}

} // namespace sparsegpu
