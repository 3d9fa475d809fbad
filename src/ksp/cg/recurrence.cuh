/// What the passes on the device have in common: sums of a grid, of all ranks, and the decision after an iteration.
#pragma once

#include <climits>
#include "ksp/cg/recurrence.hpp"
#include "ksp/common/passes.cuh"
#include "ksp/common/ranks.cuh"

namespace sparsegpu::cg
{

__device__ __forceinline__ void begin_record(CgRecord *to, const CgRecord &from)
{
  volatile CgRecord *record = to;

  ksp::begin_record(&to->told, from.told);
  record->alpha = from.alpha;
  record->rho   = from.rho;
}

__device__ __forceinline__ CgRecord record_of(const Control &c, PetscReal norm, Outcome outcome, PetscReal alpha,
                                              PetscReal rho)
{
  return CgRecord{Record{norm, outcome, c.round}, alpha, rho};
}

__device__ __forceinline__ void write_record(const Control &c, const CgRecord &record)
{
  begin_record(c.record, record);
  end_record(&c.record->told, c.round);
}

/// The norm that c.norm asks for, from (r, D r) and the sum of squares.
__device__ __forceinline__ PetscReal norm_of(const Control &c, PetscReal rho, PetscReal square)
{
  return SquareRoot(c.norm != Norm::Natural ? square : rho < 0 ? -rho : rho);
}

/// Adds up `sums` of all rows, with `ranks` and c.later not set those of all ranks. One thread of the grid calls
/// done(rho, sum of squares). All threads must call.
template <bool ranks, class Done>
__device__ __forceinline__ void close_sums(const Control &c, const Sums &sums, Done done)
{
  PetscReal v[2] = {sums.rho, sums.square};

  if (!grid_sums(v, c.partial, &c.state->arrived)) return;
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
  const CgRecord record = record_of(c, norm, stops ? STOPS : GOES_ON, alpha, before);
  if (c.later)
    c.state->untold = record;
  else
    write_record(c, record);
}

} // namespace sparsegpu::cg
