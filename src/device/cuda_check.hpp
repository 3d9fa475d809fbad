/// Checked CUDA calls; works whether or not PETSc itself has CUDA (PetscCallCUDA exists only if it has).
#pragma once

#include <cuda_runtime.h>
#include <petscsys.h>

/// PETSC_ERR_MEM where memory is what is lacking (for a kernel's local memory, a library's own), so that the caller may
/// take another way.
#define SparseGPUCallCUDA(...)                                                                                        \
  do {                                                                                                                \
    const cudaError_t sparsegpu_err_ = (__VA_ARGS__);                                                                 \
    PetscCheck(sparsegpu_err_ == cudaSuccess, PETSC_COMM_SELF,                                                        \
               sparsegpu_err_ == cudaErrorMemoryAllocation ? PETSC_ERR_MEM : PETSC_ERR_GPU, "CUDA error %d (%s): %s", \
               static_cast<int>(sparsegpu_err_), cudaGetErrorName(sparsegpu_err_),                                    \
               cudaGetErrorString(sparsegpu_err_));                                                                   \
  } while (0)
