/// Sums over all ranks inside kernels; see ranks.hpp.
#pragma once

#include "comm/exchange.cuh"
#include "comm/reduce.cuh"
#include "ksp/common/names.hpp"

namespace sparsegpu::ksp
{

/// By one thread, before this rank's next sums over all ranks: a neighbour whose ghosts have not come is lost to them,
/// too.
__device__ __forceinline__ void lose_with(const comm::ReduceSide &reduce, const comm::DeviceExchange &exchange)
{
  const std::uint64_t lost = *static_cast<volatile std::uint64_t *>(&exchange.state->lost);
  if (lost) comm::lose(reduce, exchange.side.neighbours[comm::NeighbourOf(lost)].rank);
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

} // namespace sparsegpu::ksp
