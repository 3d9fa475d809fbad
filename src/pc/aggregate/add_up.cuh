/// Sums over all threads of a grid, added up in the blocks' order by the last block to arrive: the bits repeat.
#pragma once

#include <algorithm>
#include "device/grid.cuh"
#include "device/segmented.cuh"

namespace sparsegpu::aggregate
{

constexpr unsigned MOST_BLOCKS = 512; ///< two for each multiprocessor of a large device, and few sums left to add

inline unsigned BlocksOf(PetscInt rows)
{
  return std::min(MOST_BLOCKS, Blocks(rows));
}

/// result[c] = the sums over all threads of sum[c]. All threads of all blocks, of THREADS each, must call. `partial`
/// [count * blocks]; *arrived is 0 before and after.
template <int count>
__device__ void add_up(const Scalar (&sum)[count], Scalar *partial, unsigned *arrived, Scalar *const (&result)[count])
{
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   last;

  for (int c = 0; c < count; c++) {
    const Scalar v = block_sum<THREADS>(sum[c], warps);
    if (threadIdx.x == 0) partial[c * gridDim.x + blockIdx.x] = v;
  }
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int c = 0; c < count; c++) {
    Scalar v(0);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) v += partial[c * gridDim.x + b];
    v = block_sum<THREADS>(v, warps);
    if (threadIdx.x == 0) *result[c] = v;
  }
  if (threadIdx.x == 0) *arrived = 0;
}

} // namespace sparsegpu::aggregate
