/// A loop over indices on the device.
#pragma once

#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "device/grid.cuh"

namespace sparsegpu
{

/// operation(k) for all k < count, a thread each: neighbouring threads have neighbouring indices.
template <class Operation> static __global__ void each_kernel(PetscCount count, const Operation operation)
{
  const PetscCount k = thread_index();
  if (k < count) operation(k);
}
/// The loop on the device's stream; count > 0. Asynchronous.
template <class Operation> PetscErrorCode LaunchEach(PetscCount count, const Operation &operation)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  each_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, operation);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
