/// LANES lanes for each row of the matrix: their maxima and sums, and launches over rows.
#pragma once

#include "device/cuda_check.hpp"
#include "pc/lu/fronts.cuh"
#include "pc/lu/system.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int THREADS = 256, LANES = 8; ///< lanes of a row: loops over one of hundreds of entries are unrolled

static unsigned Blocks(PetscCount threads)
{
  return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
}

/// Of the row's lanes, to all of them.
static __device__ __forceinline__ PetscReal LanesMaximum(PetscReal v)
{
  for (int step = LANES / 2; step > 0; step /= 2) {
    const PetscReal other = __shfl_xor_sync(ALL_LANES, v, step, LANES);
    if (other > v) v = other;
  }
  return v;
}
static __device__ __forceinline__ PetscReal LanesSum(PetscReal v)
{
  for (int step = LANES / 2; step > 0; step /= 2) v += __shfl_xor_sync(ALL_LANES, v, step, LANES);
  return v;
}
/// The maximum over the warp to *to; no value is negative or NaN. All lanes must call.
static __device__ __forceinline__ void Raise(RealBits *to, PetscReal v)
{
  for (int step = 16; step > 0; step /= 2) {
    const PetscReal other = __shfl_xor_sync(ALL_LANES, v, step);
    if (other > v) v = other;
  }
  if (threadIdx.x % 32 == 0 && v > 0) atomicMax(to, BitsOf(v));
}
/// 0 instead of a magnitude that is not finite, which must not raise a norm.
static __device__ __forceinline__ PetscReal Finite(PetscReal magnitude)
{
  return is_finite(magnitude) ? magnitude : PetscReal(0);
}
/// The row of these lanes; beyond the last one for lanes without a row.
static __device__ __forceinline__ PetscCount RowOf()
{
  return (static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / LANES;
}
/// With `threads` threads at least, not at all for none.
template <auto kernel, class... Arguments>
static PetscErrorCode LaunchOver(PetscCount threads, Stream stream, Arguments... arguments)
{
  PetscFunctionBegin;
  if (threads == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  kernel<<<Blocks(threads), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
