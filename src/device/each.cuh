/// A loop over indices on the device.
#pragma once

#include "device/grid.cuh"

namespace sparsegpu
{

/// operation(k) for all k < count, a thread each: neighbouring threads have neighbouring indices.
template <class Operation> static __global__ void each_kernel(PetscCount count, const Operation operation)
{
  const PetscCount k = thread_index();
  if (k < count) operation(k);
}

} // namespace sparsegpu
