/// How many thread blocks of a kernel are on the device at a time. A kernel whose blocks take their rows in turn is
/// launched with so many: what comes after them would begin when the first have ended, and leave most of the device
/// idle.
#pragma once

#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Blocks of `threads` threads without dynamic shared memory, of a kernel that is always asked for with as many.
template <auto kernel> PetscErrorCode ResidentBlocks(int threads, PetscInt *blocks)
{
  static int each = 0; // on a multiprocessor
  PetscInt   multiprocessors;

  PetscFunctionBegin;
  if (!each) SparseGPUCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, size_t(0)));
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  *blocks = each * multiprocessors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
