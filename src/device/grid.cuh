/// One-dimensional grids of blocks of THREADS threads, and what their threads agree on.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu
{

constexpr int THREADS = 256; ///< of a block; any multiple of 32 would do

/// Blocks of `size` that hold so many threads, or other parts of a block.
inline unsigned Blocks(PetscCount threads, int size = THREADS)
{
  return static_cast<unsigned>((threads + size - 1) / size);
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

/// *most = max(*most, v).
__device__ __forceinline__ void atomic_max(PetscInt *most, PetscInt v)
{
  if constexpr (sizeof(PetscInt) == 8)
    atomicMax(reinterpret_cast<long long *>(most), static_cast<long long>(v));
  else
    atomicMax(reinterpret_cast<int *>(most), static_cast<int>(v));
}

} // namespace sparsegpu
