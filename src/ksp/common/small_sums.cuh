/// Iterations of a small system in one cooperative launch: the division of the rows, and sums of all blocks, of which
/// each block adds up the parts for itself, in their order: all decide alike.
#pragma once

#include <algorithm>
#include "device/limits.hpp"
#include "ksp/common/small_rows.cuh"
#include "ksp/common/small_shape.hpp"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

/// The sums of all blocks, in their order, to all threads of the block. After a barrier of the grid; all must call.
template <int count>
__device__ __forceinline__ void grid_sums(const PetscReal *partial, PetscReal (&whole)[count], PetscReal (&v)[count])
{
  const int lane = threadIdx.x % 32;

  if (threadIdx.x < 32) {
#pragma unroll
    for (int k = 0; k < count; k++) v[k] = 0;
    for (unsigned b = lane; b < gridDim.x; b += 32)
#pragma unroll
      for (int k = 0; k < count; k++) v[k] += load_shared(partial + count * b + k);
#pragma unroll
    for (int k = 0; k < count; k++) {
#pragma unroll
      for (int mask = 16; mask > 0; mask /= 2) v[k] += shuffle_xor(v[k], mask, 32);
      if (lane == 0) whole[k] = v[k];
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = whole[k];
}

/// The block's part of the sums.
template <int count> __device__ __forceinline__ void leave_sums(PetscReal (&v)[count], PetscReal *partial)
{
  block_sums(v);
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int k = 0; k < count; k++) partial[count * blockIdx.x + k] = v[k];
}

/// How a system of `rows` rows with `mean` entries each would be divided, where a block has `vectors` vectors of its
/// rows in shared memory, then its part of A; false if its blocks cannot all be on the device at once.
inline PetscErrorCode PlanSmall(const void *kernel, int vectors, PetscInt rows, PetscReal mean, SmallShape *shape,
                                bool *fits)
{
  constexpr PetscInt LEAST = 128; // rows of a block: fewer, and more blocks wait for each other longer
  PetscInt           multiprocessors, together;
  size_t             most;

  PetscFunctionBegin;
  *fits = false;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  PetscCall(SharedMemoryFor(kernel, &most));
  const PetscInt wanted = std::min(multiprocessors, (rows + LEAST - 1) / LEAST);
  shape->rows           = (rows + wanted - 1) / wanted;
  shape->blocks         = (rows + shape->rows - 1) / shape->rows;
  shape->lanes          = SmallLanes(shape->rows, mean);
  const size_t own   = small_aligned(static_cast<size_t>(vectors) * static_cast<size_t>(shape->rows) * sizeof(Scalar));
  const size_t least = own + small_aligned((static_cast<size_t>(shape->rows) + 1) * sizeof(PetscInt));
  if (least > most) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t matrix = static_cast<size_t>(mean * shape->rows) * (sizeof(Scalar) + sizeof(PetscInt));
  shape->bytes        = std::min(most, least + 2 * matrix);
  shape->holds        = least + matrix <= most;
  PetscCall(CooperativeBlocks(kernel, SMALL_THREADS, shape->bytes, &together));
  *fits = together >= shape->blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
