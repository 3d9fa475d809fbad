/// What one thread of many may find.
#pragma once

#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// *raised: whether a thread of what launch(flag, stream) launches has written another number than 0 to *flag. Waits
/// for the device.
template <class Launch> PetscErrorCode RaisesFlag(Launch launch, bool *raised)
{
  DeviceMemory flag;
  Stream       stream;
  int          found = 0;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(flag.Reserve(sizeof(int)));
  SparseGPUCallCUDA(cudaMemsetAsync(flag.data(), 0, sizeof(int), static_cast<cudaStream_t>(stream)));
  launch(static_cast<int *>(flag.data()), static_cast<cudaStream_t>(stream));
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&found, flag.data(), sizeof(int), stream));
  *raised = found != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
