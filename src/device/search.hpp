/// Searches of ascending arrays, on the host and by one thread of a device.
#pragma once

#include "device/scalar.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// First k of begin <= k < end with a[k] >= value, else end; a ascends.
template <class T> SPARSEGPU_HD PetscInt lower_bound(const T *a, PetscInt begin, PetscInt end, T value)
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

} // namespace sparsegpu
