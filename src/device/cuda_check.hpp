/// Checked CUDA calls; works whether or not PETSc itself has CUDA (PetscCallCUDA exists only if it has).
#pragma once

#include <cuda_runtime.h>
#include <petscsys.h>

#define SparseGPUCallCUDA(...)                                                                          \
  do {                                                                                                  \
    const cudaError_t sparsegpu_err_ = (__VA_ARGS__);                                                   \
    PetscCheck(sparsegpu_err_ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA error %d (%s): %s", \
               static_cast<int>(sparsegpu_err_), cudaGetErrorName(sparsegpu_err_),                      \
               cudaGetErrorString(sparsegpu_err_));                                                     \
  } while (0)
