/// What the passes on the device have in common: sums of a grid, of all ranks, and the decision after an iteration.
#pragma once

#include <climits>
#include "comm/reduce.cuh"
#include "device/cuda_check.hpp"
#include "ksp/cg/recurrence.hpp"
#include "mat/formats/dots.cuh"

namespace sparsegpu::cg
{

constexpr int PASS_THREADS = 256; ///< of a block, in every pass

__device__ __forceinline__ PetscReal root(PetscReal v)
{
  return sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(v)))
                                            : static_cast<PetscReal>(sqrt(static_cast<double>(v)));
}

__device__ __forceinline__ void write_record(const Control &c, PetscReal norm, Outcome outcome, PetscReal alpha,
                                             PetscReal rho)
{
  volatile CgRecord *record = c.record;

  record->told.norm    = norm;
  record->told.outcome = outcome;
  record->alpha        = alpha;
  record->rho          = rho;
  __threadfence_system(); // the host reads these once it sees the next
  record->told.ready = c.round;
}

/// The norm that c.norm asks for, from (r, D r) and the sum of squares.
__device__ __forceinline__ PetscReal norm_of(const Control &c, PetscReal rho, PetscReal square)
{
  return root(c.norm != Norm::Natural ? square : rho < 0 ? -rho : rho);
}

/// The sums over all ranks of v, of thread 0, to thread 0. All threads of the block must call.
template <int count> __device__ __forceinline__ void sum_over_ranks(const comm::ReduceSide &side, PetscReal (&v)[count])
{
  __shared__ Scalar values[count];
  __shared__ std::uint32_t words[comm::ReduceSide::RANKS * count * comm::ReduceSide::PARTS];

#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) values[k] = Scalar(v[k]);
  comm::all_reduce(side, count, values, values, words);
#pragma unroll
  for (int k = 0; k < count; k++)
    if (threadIdx.x == 0) v[k] = RealPart(values[k]);
}

/// Whether this is the last block of the grid to come here, to all its threads. What thread 0 of the others has written
/// before may then be read by load_shared().
__device__ __forceinline__ bool is_last_block(State *state)
{
  __shared__ bool last;

  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&state->arrived, 1u) == gridDim.x - 1;
    if (last) state->arrived = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// Adds up `sums` of all rows, with `ranks` and c.later not set those of all ranks. The last block of the grid calls
/// done(rho, sum of squares) by one thread. All threads must call.
template <bool ranks, class Done>
__device__ __forceinline__ void close_pass(const Control &c, const Sums &sums, Done done)
{
  PetscReal v[2] = {sums.rho, sums.square};

  block_sums(v);
  if (threadIdx.x == 0) {
    c.partial[2 * blockIdx.x]     = v[0];
    c.partial[2 * blockIdx.x + 1] = v[1];
  }
  if (!is_last_block(c.state)) return;
  v[0] = v[1] = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += PASS_THREADS) {
    v[0] += load_shared(c.partial + 2 * b);
    v[1] += load_shared(c.partial + 2 * b + 1);
  }
  block_sums(v);
  if constexpr (ranks)
    if (!c.later) sum_over_ranks(c.reduce, v);
  if (threadIdx.x == 0) done(v[0], v[1]);
}

/// By one thread: iteration c.number, of a step `alpha` from `before`, has led to rho and the sum of squares.
__device__ __forceinline__ void close_iteration(const Control &c, PetscReal rho, PetscReal square, PetscReal alpha,
                                                PetscReal before)
{
  const PetscReal norm  = norm_of(c, rho, square);
  const bool      stops = !Finite(norm) || (c.tested && (norm <= c.converged || norm >= c.diverged));

  c.state->rho = rho;
  if (stops) c.state->stopped_at = c.number;
  write_record(c, norm, stops ? STOPS : GOES_ON, alpha, before);
}

} // namespace sparsegpu::cg
