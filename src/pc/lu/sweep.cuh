/// Solves with the factors without any barrier between fronts: every unknown, and every part that a front leaves to its
/// parent, is its own flag (see poll.cuh). Warps take small fronts by ticket, blocks take tiles of large ones, in an
/// order in which the oldest can always go on. Bitwise reproducible.
#pragma once

#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "pc/lu/paired_tile.cuh"
#include "pc/lu/ways.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int WARPS = 4, THREADS = 32 * WARPS; ///< of a block

namespace
{
/// Whether a right-hand side's rows are exchanged; and whether one triangle is kept.
constexpr bool Exchanged(Way way)
{
  return way == Way::Plain || way == Way::Paired;
}
constexpr bool IsHalf(Way way)
{
  return way == Way::Half || way == Way::Paired;
}

/// What the two sweeps multiply with. Forward: x_k is taken from row i > k; backward: from row i < k. Backward, the
/// triangle of a half has a unit diagonal.
template <Way way, class Number> struct Factors {
  static constexpr bool half = IsHalf(way);
  const Number         *lower, *upper;
  PetscCount            p, m;
  bool                  conjugate; ///< L^H

  __device__ const Number *U(PetscCount i, PetscCount k) const
  {
    return k < p ? lower + i + k * m : upper + i + (k - p) * p;
  }
  /// Of a half; `tile`: the first column of column k's tile.
  __device__ const Number *L(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return i < p ? lower + TileBegin(p, tile) + (k - tile) * (p - tile) + i - tile : upper + (i - p) + k * (m - p);
  }
  /// `tile`: the tile of column k.
  __device__ const Number *ForwardPlace(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return half ? L(i, k, tile) : way == Way::Transposed ? U(k, i) : lower + (i + k * m);
  }
  __device__ Number Forward(PetscCount i, PetscCount k, PetscCount tile) const { return *ForwardPlace(i, k, tile); }
  /// Between columns of Forward() that are stored side by side, of one tile, or between such rows.
  __device__ PetscCount ForwardApart(PetscCount i, PetscCount tile) const
  {
    return half ? (i < p ? p - tile : m - p) : way == Way::Plain || i < p ? m : p;
  }
  /// `tile`: the tile of column i.
  __device__ const Number *BackwardPlace(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return half ? L(k, i, tile) : way == Way::Transposed ? lower + (k + i * m) : U(i, k);
  }
  __device__ Number Backward(PetscCount i, PetscCount k, PetscCount tile) const
  {
    return Mirrored(*BackwardPlace(i, k, tile));
  }
  __device__ PetscCount BackwardApart(PetscCount k, PetscCount tile) const
  {
    return half ? (k < p ? p - tile : m - p) : way == Way::Transposed || k < p ? m : p;
  }
  __device__ Number Mirrored(const Number &v) const { return half && conjugate ? Conj(v) : v; }
  __device__ Number Pivot(PetscCount k) const { return lower[half ? TileColumn(p, k) + k : k + k * m]; }
};
template <Way way, class Number>
__device__ Factors<way, Number> FactorsOf(const FrontsView &V, PetscInt f, const LuSolution<Number> &W)
{
  const PetscInt p = V.first[f + 1] - V.first[f], r = static_cast<PetscInt>(V.row_begin[f + 1] - V.row_begin[f]);
  return Factors<way, Number>{W.values + V.lower[f], W.values + V.upper[f], p, p + r, V.shape == Shape::Hermitian};
}
} // namespace

/// The next ticket, the same in all lanes.
static __device__ __forceinline__ unsigned long long TakeTicket(unsigned long long *ticket)
{
  unsigned long long t = 0;
  if (threadIdx.x % 32 == 0) t = atomicAdd(ticket, 1ull);
  return __shfl_sync(ALL_LANES, t, 0);
}

template <int columns, class Number> static __device__ __forceinline__ void Clear(Number (&v)[columns])
{
#pragma unroll
  for (int c = 0; c < columns; c++) v[c] = Number(0);
}

/// v[c]: the value at p[c * stride], once it is there, for c < count, otherwise zero. All are polled for at a time.
template <int columns, class Number>
static __device__ __forceinline__ void AwaitColumns(const Number *p, PetscCount stride, int count, int launch,
                                                    const LuSolution<Number> &W, Number (&v)[columns])
{
  Patience patience;
  bool     missing = false;
#pragma unroll
  for (int c = 0; c < columns; c++) v[c] = c < count ? poll(p + c * stride) : Number(0);
#pragma unroll
  for (int c = 0; c < columns; c++) missing = missing || (c < count && IsMissing(v[c]));
  while (missing) {
    const bool ends = patience.Ends(W.spins, W.report->ticket + launch, &W.report->stuck);
    if (ends) W.report->stuck = 1;
    missing = false;
#pragma unroll
    for (int c = 0; c < columns; c++) {
      if (c >= count || !IsMissing(v[c])) continue;
      v[c]    = ends ? Abandoned<Number>() : poll(p + c * stride);
      missing = missing || IsMissing(v[c]);
    }
  }
}

/// Row a of a front before its own elimination, in `count` columns that begin `shift` entries on: their right-hand
/// sides, if it is a pivot's, and what the children leave.
template <Way way, int columns, class Number>
static __device__ void Gather(const FrontsView &V, PetscInt first, PetscCount row_begin, PetscInt p, PetscInt a,
                              int launch, const LuSolution<Number> &W, PetscCount shift, Number (&v)[columns],
                              int count = columns)
{
  const PetscInt   from   = a < p && Exchanged(way) ? W.local_row[first + a] : a;
  const PetscCount number = first + row_begin + from;
  Number           part[columns];
#pragma unroll
  for (int c = 0; c < columns; c++) v[c] = a < p && c < count ? W.b[shift + c * W.stride + first + from] : Number(0);
  for (PetscInt s = V.source_begin[number]; s < V.source_begin[number + 1]; s++) {
    AwaitColumns(W.parts + shift + V.source[s], W.stride, count, launch, W, part);
#pragma unroll
    for (int c = 0; c < columns; c++) v[c] += part[c];
  }
}

/// PairCode of the lane's row a of a front.
template <Way way, class Number>
static __device__ __forceinline__ int CodeOf(const LuSolution<Number> &W, PetscInt first, PetscInt a, bool pivot)
{
  return way == Way::Paired && pivot ? W.pair[first + a] : 0;
}

/// Calls take() with item after item, as the block gets them by ticket, until none is left; with all threads, which are
/// done with what is shared of the last one. `claimed` is shared.
template <class Take> static __device__ __forceinline__ void EachItem(const SolveItem *items, PetscInt count,
                                                                      unsigned long long *ticket,
                                                                      unsigned long long *claimed, const Take &take)
{
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) *claimed = atomicAdd(ticket, 1ull);
    __syncthreads();
    const unsigned long long next = *claimed;
    if (next >= static_cast<unsigned long long>(count)) return;
    take(items[next]);
  }
}

/// As many blocks of so many threads as run at a time, or as there is work for, which is done for `groups` of columns.
template <class Kernel>
static PetscErrorCode Blocks(Kernel *kernel, int threads, PetscInt wanted, int groups, unsigned *blocks)
{
  PetscInt resident;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks(reinterpret_cast<const void *>(kernel), threads, 0, &resident));
  *blocks = static_cast<unsigned>(PetscMax(PetscCount(1), PetscMin(PetscCount(wanted) * groups, PetscCount(resident))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
