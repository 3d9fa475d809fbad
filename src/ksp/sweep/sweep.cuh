/// Prologue and epilogue of every kernel of a sweep, with JACOBI_THREADS threads a block.
#pragma once

#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/sweep/row.hpp"

namespace sparsegpu::sweep
{

constexpr int JACOBI_THREADS = 256;

/// Whether an earlier sweep has stopped the solve. This sweep itself may be setting stopped_at to its own number.
__device__ __forceinline__ bool jacobi_stopped(const JacobiControl &control)
{
  return control.stopped_at && *control.stopped_at < control.number;
}

/// The norm of the block, in a fixed order, to thread 0. All threads must call.
__device__ __forceinline__ PetscReal block_joined(JacobiNorm norm, PetscReal v)
{
  __shared__ PetscReal warps[JACOBI_THREADS / 32];
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) v = joined(norm, v, shuffle_xor(v, mask, 32));
  __syncthreads(); // the scratch may still be read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < JACOBI_THREADS / 32; w++) v = joined(norm, v, warps[w]);
  return v;
}

/// The norm of `blocks` blocks, in their order, to thread 0. All threads must call, after all blocks have written.
__device__ __forceinline__ PetscReal blocks_joined(JacobiNorm norm, const PetscReal *partial, unsigned blocks)
{
  PetscReal v = 0;
  for (unsigned b = threadIdx.x; b < blocks; b += JACOBI_THREADS) v = joined(norm, v, load_shared(partial + b));
  return block_joined(norm, v);
}

/// The value for the record: the norm, or its square.
__device__ __forceinline__ PetscReal recorded_norm(const JacobiControl &control, PetscReal norm)
{
  if (!control.root) return norm;
  return sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(norm)))
                                            : static_cast<PetscReal>(sqrt(static_cast<double>(norm)));
}

/// Whether a sweep with this norm is the last one.
__device__ __forceinline__ bool norm_stops(const JacobiControl &control, bool tested, PetscReal norm)
{
  const bool finite = norm - norm == 0;
  return !finite || (tested && (norm <= control.converged || norm >= control.diverged));
}

/// By one thread: the sweep has led to this norm, or its square.
__device__ __forceinline__ void close_sweep(const JacobiControl &control, PetscReal whole)
{
  const PetscReal  norm   = recorded_norm(control, whole);
  const bool       stops  = norm_stops(control, control.tested, norm);
  volatile Record *record = control.record;

  if (stops) *control.stopped_at = control.number;
  record->norm    = norm;
  record->outcome = stops;
  __threadfence_system(); // the host reads these once it sees the next
  record->ready = control.round;
}

/// Reduces the norms of all threads' rows. Each block stores its norm; the last block to arrive reduces them in their
/// order, decides whether to stop, and writes the record. All threads must call.
__device__ __forceinline__ void finish_jacobi(const JacobiSweep &sweep, const JacobiControl &control, PetscReal norm)
{
  __shared__ bool last;

  if (!control.record) return;
  norm = block_joined(sweep.norm, norm);
  if (threadIdx.x == 0) {
    control.partial[blockIdx.x] = norm;
    __threadfence();
    last = atomicAdd(control.arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  norm = blocks_joined(sweep.norm, control.partial, gridDim.x);
  if (threadIdx.x > 0) return;
  *control.arrived = 0;
  if (control.local)
    *control.local = norm;
  else
    close_sweep(control, norm);
}

/// A sweep as an epilogue of a product (mat/formats/epilogue.cuh): what a thread has of it.
struct JacobiEpilogue {
  const JacobiSweep   &sweep;
  const JacobiControl &control;
  PetscReal            norm = 0; ///< of this thread's rows

  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &product)
  {
    if (sweep.left_out && (sweep.left_out[row / 32] >> (row % 32) & 1))
      sweep.next[row] = product;
    else
      norm = joined(sweep.norm, norm, jacobi_row(sweep, static_cast<PetscInt>(row), product));
  }
  __device__ __forceinline__ void Finish() const { finish_jacobi(sweep, control, norm); }
};

/// epilogue(row, row_sum(row)) for all rows, one thread a row in turn.
template <class RowSum>
__device__ __forceinline__ void sweep_rows(PetscInt rows, JacobiEpilogue &epilogue, RowSum row_sum)
{
  for (PetscInt row = static_cast<PetscInt>(blockIdx.x) * JACOBI_THREADS + threadIdx.x; row < rows;
       row += static_cast<PetscInt>(gridDim.x) * JACOBI_THREADS)
    epilogue(row, row_sum(row));
}

/// Blocks for `rows` rows, `at_once` of them a block, where `full` fill the device; one without rows, for a norm of 0.
inline unsigned jacobi_blocks(PetscInt rows, PetscInt at_once, PetscInt full)
{
  const PetscInt useful = (rows + at_once - 1) / at_once;
  const PetscInt most   = full < JACOBI_BLOCKS ? full : JACOBI_BLOCKS;
  return static_cast<unsigned>(useful < 1 ? 1 : useful < most ? useful : most);
}

} // namespace sparsegpu::sweep
