/// One-dimensional grids of blocks of THREADS threads, and what the 32 threads of a warp agree on.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu
{

constexpr int THREADS = 256; ///< of a block; any multiple of 32 would do

inline unsigned Blocks(PetscCount threads)
{
  return static_cast<unsigned>((threads + THREADS - 1) / THREADS);
}
__device__ __forceinline__ PetscCount thread_index()
{
  return static_cast<PetscCount>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Of the warp's values; all its threads must call, and all get it.
template <class T> __device__ __forceinline__ T warp_min(T v)
{
  for (int mask = 16; mask > 0; mask /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, v, mask);
    v             = other < v ? other : v;
  }
  return v;
}
template <class T> __device__ __forceinline__ T warp_max(T v)
{
  for (int mask = 16; mask > 0; mask /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, v, mask);
    v             = other > v ? other : v;
  }
  return v;
}
template <class T> __device__ __forceinline__ T warp_sum(T v)
{
  for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffffu, v, mask);
  return v;
}

} // namespace sparsegpu
