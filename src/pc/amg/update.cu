/// Updates of vectors on the device, a thread an entry.
#include "device/cuda_check.hpp"
#include "device/each.cuh"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

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
