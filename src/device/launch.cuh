/// A kernel that starts while the one before it in the stream still runs ("programmatic dependent launch"), which hides
/// the launch of a short second pass. Compute capability 9.0 and newer; elsewhere an ordinary launch.
#pragma once

#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// First thing in a kernel launched by LaunchEarly(): until here nothing of what the kernel before it writes may be
/// read.
__device__ __forceinline__ void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
/// In the kernel before it: the next may start as soon as all blocks have come by here.
__device__ __forceinline__ void let_next_kernel_start()
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Both: all that a kernel reads of what others write, and all that it writes, comes after.
__device__ __forceinline__ void begin_in_turn()
{
  wait_for_previous_kernel();
  let_next_kernel_start();
}

/// Launches `kernel`, which calls wait_for_previous_kernel(), without waiting for the end of the kernel before it.
template <auto kernel, class... Arguments>
PetscErrorCode LaunchEarly(dim3 blocks, int threads, size_t shared, cudaStream_t stream, Arguments... arguments)
{
  static int          waits  = -1; // only if it was compiled for 9.0, whatever the device is
  cudaLaunchAttribute early  = {};
  cudaLaunchConfig_t  config = {};

  PetscFunctionBegin;
  if (waits < 0) {
    cudaFuncAttributes facts;
    SparseGPUCallCUDA(cudaFuncGetAttributes(&facts, kernel));
    waits = facts.ptxVersion >= 90 ? 1 : 0;
  }
  early.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim                                   = blocks;
  config.blockDim                                  = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes                          = shared;
  config.stream                                    = stream;
  config.attrs                                     = &early;
  config.numAttrs                                  = static_cast<unsigned>(waits);
  SparseGPUCallCUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <auto kernel, class... Arguments>
PetscErrorCode LaunchEarly(PetscInt blocks, int threads, cudaStream_t stream, Arguments... arguments)
{
  return LaunchEarly<kernel>(dim3(static_cast<unsigned>(blocks)), threads, size_t(0), stream, arguments...);
}

} // namespace sparsegpu
