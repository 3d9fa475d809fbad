/// Where rows begin, from how many entries each has.
#pragma once

#include <numeric>
#include "device/sort.hpp"

namespace sparsegpu::rows
{

/// count [n + 1] in `space`: count[k] = count[0] + ... + count[k - 1] of before, k <= n; *total = count[n].
inline PetscErrorCode RunningSumIn(Space space, PetscInt n, Array<PetscInt> *count, PetscInt *total)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    DeviceMemory scratch;
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(RunningSum(n, count, total, &scratch, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  std::exclusive_scan(count->data(), count->data() + n + 1, count->data(), PetscInt(0));
  *total = count->data()[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
