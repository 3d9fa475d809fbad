/// Passes over the rows of a solve on the device. Each thread block of a pass adds up the sums of a product's groups
/// for itself, in their order: all blocks have the bits of the same coefficients. The last block to arrive adds up the
/// blocks' own sums and decides how the solve goes on.
#pragma once

#include "device/cuda_check.hpp"
#include "device/record.hpp"
#include "device/resident.cuh"
#include "ksp/common/names.hpp"
#include "ksp/common/passes.hpp"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

constexpr int PASS_THREADS = 256;

/// A record without its round: the host does not read it yet.
__device__ __forceinline__ void begin_record(Record *to, const Record &from)
{
  volatile Record *record = to;

  record->norm    = from.norm;
  record->outcome = from.outcome;
}

/// The round of a record, once all else of it has been written by this thread.
__device__ __forceinline__ void end_record(Record *record, int round)
{
  __threadfence_system(); // the host reads the rest once it sees this
  *static_cast<volatile int *>(&record->ready) = round;
}

/// The sums of a product's groups, in their order, to `whole` in shared memory. All threads of the block must call.
template <int count>
__device__ __forceinline__ void product_sums(const PetscReal *sums, PetscReal (&whole)[count], int groups = DOT_GROUPS)
{
  PetscReal dots[count] = {};

  for (int g = static_cast<int>(threadIdx.x); g < groups; g += PASS_THREADS)
#pragma unroll
    for (int k = 0; k < count; k++) dots[k] += sums[count * g + k];
  block_sums(dots);
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) whole[k] = dots[k];
  __syncthreads();
}

/// `v` of thread 0 of this block, for add_partials().
template <int count> __device__ __forceinline__ void leave_partial(const PetscReal (&v)[count], PetscReal *partial)
{
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) partial[count * blockIdx.x + k] = v[k];
}

/// Whether this is the last block of the grid to come here, to all its threads. What thread 0 of the others has written
/// before may then be read by load_shared(). *arrived is zero before and after.
__device__ __forceinline__ bool is_last_block(unsigned *arrived)
{
  __shared__ bool last;

  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (last) *arrived = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// By the last block: what a thread has to add of what all blocks have left.
template <int count> __device__ __forceinline__ void add_partials(const PetscReal *partial, PetscReal (&v)[count])
{
  for (unsigned b = threadIdx.x; b < gridDim.x; b += PASS_THREADS)
#pragma unroll
    for (int k = 0; k < count; k++) v[k] += load_shared(partial + count * b + k);
}

/// By the last block: the sums of a product's groups, in their order, and those that all blocks have left, to thread 0.
/// partial null: of the groups alone.
template <int count>
__device__ __forceinline__ void rank_sums(const PetscReal *sums, const PetscReal *partial, PetscReal (&v)[count])
{
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = 0;
  for (int g = static_cast<int>(threadIdx.x); g < DOT_GROUPS; g += PASS_THREADS)
#pragma unroll
    for (int k = 0; k < count; k++) v[k] += load_shared(sums + count * g + k);
  if (partial) add_partials(partial, v);
  block_sums(v);
}

/// Adds up `v` of all threads of the grid, in a fixed order: true to the last block alone, whose thread 0 has the sums
/// in its `v`. partial [count * PASS_BLOCKS] is scratch, *arrived is zero before and after. All threads must call.
template <int count>
__device__ __forceinline__ bool grid_sums(PetscReal (&v)[count], PetscReal *partial, unsigned *arrived)
{
  block_sums(v);
  leave_partial(v, partial);
  if (!is_last_block(arrived)) return false;
#pragma unroll
  for (int k = 0; k < count; k++) v[k] = 0;
  add_partials(partial, v);
  block_sums(v);
  return true;
}

/// The same; one thread calls done(), when the sums are in its `v`.
template <int count, class Done>
__device__ __forceinline__ void close_pass(PetscReal (&v)[count], PetscReal *partial, unsigned *arrived, Done done)
{
  if (grid_sums(v, partial, arrived) && threadIdx.x == 0) done();
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

/// What for_rows_back() reads first of `vectors`, on its way to the L2 cache while the thread has to wait for something
/// else, be it the kernel before.
template <class... Vectors> __device__ __forceinline__ void fetch_rows_back(PetscInt rows, Vectors... vectors)
{
  const PetscInt tile = (rows - 1) / PASS_THREADS - static_cast<PetscInt>(blockIdx.x);

#pragma unroll
  for (int k = 0; k < 2; k++) {
    const PetscInt r =
        (tile - k * static_cast<PetscInt>(gridDim.x)) * PASS_THREADS + static_cast<PetscInt>(threadIdx.x);
    if (r >= 0 && r < rows) (fetch_to_l2(vectors + r), ...);
  }
}

/// Launches `kernel` with blocks for all rows, as many as are on the device at a time, and one for no row: its record
/// is written in any case.
template <auto kernel, class... Arguments>
PetscErrorCode LaunchPass(PetscInt rows, Stream stream, const Arguments &...arguments)
{
  PetscInt full;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks<kernel>(PASS_THREADS, &full));
  const PetscInt useful = rows > 0 ? (rows - 1) / PASS_THREADS + 1 : 1, most = full < PASS_BLOCKS ? full : PASS_BLOCKS;
  PetscCall(LaunchEarly<kernel>(useful < most ? useful : most, PASS_THREADS, static_cast<cudaStream_t>(stream),
                                arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
