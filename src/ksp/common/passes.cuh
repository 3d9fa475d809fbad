/// Passes over the rows of a solve on the device. Each thread block of a pass adds up the sums of a product's groups
/// for itself, in their order: all blocks have the bits of the same coefficients. The last block to arrive adds up the
/// blocks' own sums and decides how the solve goes on.
#pragma once

#include "device/cuda_check.hpp"
#include "ksp/common/names.hpp"
#include "ksp/common/passes.hpp"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

constexpr int PASS_THREADS = 256;

/// The sums of a product's groups, in their order, to `whole` in shared memory. All threads of the block must call.
template <int count> __device__ __forceinline__ void product_sums(const PetscReal *sums, PetscReal (&whole)[count])
{
  PetscReal dots[count] = {};

  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += PASS_THREADS)
#pragma unroll
    for (int k = 0; k < count; k++) dots[k] += sums[count * g + k];
  block_sums(dots);
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) whole[k] = dots[k];
  __syncthreads();
}

/// Adds up `v` of all threads of the grid, in a fixed order; one thread of the last block calls done(), when the sums
/// are in its `v`. partial [count * PASS_BLOCKS] is scratch, *arrived is zero before and after. All threads must call.
template <int count, class Done>
__device__ __forceinline__ void close_pass(PetscReal (&v)[count], PetscReal *partial, unsigned *arrived, Done done)
{
  __shared__ bool last;

  block_sums(v);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int k = 0; k < count; k++) partial[count * blockIdx.x + k] = v[k];
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += PASS_THREADS)
#pragma unroll
    for (int k = 0; k < count; k++) v[k] += load_shared(partial + count * b + k);
  block_sums(v);
  if (threadIdx.x > 0) return;
  *arrived = 0;
  done();
}

/// each(r) for all rows, one thread a row in turn; neighbouring threads have neighbouring rows.
template <class Each> __device__ __forceinline__ void for_rows(PetscInt rows, Each each)
{
#pragma unroll 2
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * PASS_THREADS + threadIdx.x; r < rows;
       r += static_cast<PetscInt>(gridDim.x) * PASS_THREADS)
    each(r);
}

/// The same from the last rows to the first: what a pass before has read or written last, of the last rows, is still in
/// the L2 cache.
template <class Each> __device__ __forceinline__ void for_rows_back(PetscInt rows, Each each)
{
#pragma unroll 2
  for (PetscInt t = (rows - 1) / PASS_THREADS - static_cast<PetscInt>(blockIdx.x); t >= 0;
       t -= static_cast<PetscInt>(gridDim.x)) {
    const PetscInt r = t * PASS_THREADS + static_cast<PetscInt>(threadIdx.x);
    if (r < rows) each(r);
  }
}

/// Launches `kernel` with blocks for all rows, as many as are on the device at a time, and one for no row: its record
/// is written in any case.
template <auto kernel, class... Arguments>
PetscErrorCode LaunchPass(PetscInt rows, Stream stream, const Arguments &...arguments)
{
  static int resident = 0; // on a multiprocessor
  PetscInt   multiprocessors;

  PetscFunctionBegin;
  if (!resident)
    SparseGPUCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, PASS_THREADS, size_t(0)));
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = rows > 0 ? (rows - 1) / PASS_THREADS + 1 : 1, full = resident * multiprocessors;
  const PetscInt most = full < PASS_BLOCKS ? full : PASS_BLOCKS;
  PetscCall(LaunchEarly<kernel>(useful < most ? useful : most, PASS_THREADS, static_cast<cudaStream_t>(stream),
                                arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
