/// Updates of vectors on the device, a thread an entry.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

/// Neighbouring threads read and write neighbouring entries.
template <class Operation> static __global__ void each_kernel(PetscCount count, const Operation operation)
{
  const PetscCount k = thread_index();
  if (k < count) operation(k);
}

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  each_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, operation);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_CYCLE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::amg
