/// How a block eliminates one long row, in global memory.
#pragma once

#include "pc/ilu/eliminate.cuh"

namespace sparsegpu::ilu
{

static constexpr int BLOCK = 256; ///< threads that share a long row

/// A long row's data in the shared memory of its block.
struct LongRow {
  static constexpr int STRETCHES = 4096;
  int                  begin[STRETCHES], end[STRETCHES]; ///< entries with columns s << shift ... ((s + 1) << shift) - 1
  PetscInt             diagonal[BLOCK], stop[BLOCK];     ///< of the rows that the entries of L at work name
  Scalar               factor[BLOCK];                    ///< those entries, when they are done
  int                  active[BLOCK];                    ///< which of them have anything to subtract, ascending
  int                  in_warp[BLOCK / 32];
  PetscReal            sum[BLOCK / 32];
};

/// Where a column lies in a row: among those of its stretch, which are few. -1: nowhere.
struct Lookup {
  const LongRow  *row;
  const PetscInt *columns;
  int             shift;

  __device__ __forceinline__ PetscInt operator()(PetscInt column) const
  {
    const int s = static_cast<int>(column >> shift);
    return find_column(columns, row->begin[s], row->end[s], column);
  }
};

/// All threads must call; overwrites shared memory.
__device__ __forceinline__ Lookup MakeLookup(PetscInt rows, const PetscInt *columns, PetscInt length, LongRow *row)
{
  Lookup lookup{row, columns, 0};
  while ((rows - 1) >> lookup.shift >= LongRow::STRETCHES) lookup.shift++;
  for (int s = threadIdx.x; s < LongRow::STRETCHES; s += BLOCK) row->begin[s] = row->end[s] = 0;
  __syncthreads();
  for (PetscInt k = threadIdx.x; k < length; k += BLOCK) {
    const int s = static_cast<int>(columns[k] >> lookup.shift);
    if (k == 0 || columns[k - 1] >> lookup.shift != s) row->begin[s] = static_cast<int>(k);
    if (k == length - 1 || columns[k + 1] >> lookup.shift != s) row->end[s] = static_cast<int>(k) + 1;
  }
  __syncthreads();
  return lookup;
}

/// SubtractRest() by a block.
__device__ __forceinline__ void SubtractRestByBlock(const FactorView &F, unsigned spins, PetscInt rest, PetscInt end,
                                                    PetscInt own, PetscInt length, const Lookup &lookup, Scalar *values,
                                                    Scalar factor, const Output &out)
{
  const PetscInt count = end - rest, others = length - own;
  if (count <= 0 || others <= 0) return;
  constexpr int   BATCH  = 4;
  const bool      theirs = others * static_cast<PetscCount>(32 - __clz(static_cast<int>(count))) < count;
  const PetscInt  keys   = theirs ? others : count;
  const PetscInt *key    = theirs ? lookup.columns + own : F.j + rest;
  for (PetscInt first = threadIdx.x; first < keys; first += BATCH * BLOCK) {
    PetscInt column[BATCH], at[BATCH];
    Scalar   u[BATCH];
#pragma unroll
    for (int q = 0; q < BATCH; q++) column[q] = first + q * BLOCK < keys ? key[first + q * BLOCK] : -1;
    if (theirs) {
      FindTogether<BATCH>(F.j + rest, count, column, at);
    } else {
#pragma unroll
      for (int q = 0; q < BATCH; q++) at[q] = column[q] >= 0 ? lookup(column[q]) : -1;
    }
    const auto entry = [&](int q) { return out.values + rest + (theirs ? at[q] : first + q * BLOCK); };
#pragma unroll
    for (int q = 0; q < BATCH; q++) // issue all loads before the first use
      if (at[q] >= 0) u[q] = poll(entry(q));
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      if (at[q] < 0) continue;
      if (IsMissing(u[q])) u[q] = Wait(entry(q), spins, out.report);
      Scalar &value = values[theirs ? own + first + q * BLOCK : at[q]];
      value         = value - factor * u[q];
    }
  }
}

/// Which entries of L at work have something to subtract: those whose rows of U have a column of this row, and, without
/// a look, those whose rows are not short. In order, into row->active; returns how many. All threads; `e` is the
/// thread's entry, at least `lower`: none.
__device__ __forceinline__ int FindActive(const FactorView &F, PetscInt e, PetscInt lower, const Lookup &lookup,
                                          LongRow *row, bool *active)
{
  constexpr int SHORT = 8; // entries
  const int     warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int           before = 0, all = 0;

  *active = false;
  if (e < lower) {
    const PetscInt m = lookup.columns[e], d = F.diagonal[m], stop = F.i[m + 1];
    row->diagonal[threadIdx.x] = d;
    row->stop[threadIdx.x]     = stop;
    *active                    = stop - d - 1 > SHORT;
    for (PetscInt f = d + 1; f < stop && !*active; f++) *active = lookup(F.j[f]) >= 0;
  }
  const unsigned votes = __ballot_sync(ALL, *active);
  if (lane == 0) row->in_warp[warp] = __popc(votes);
  __syncthreads();
  for (int w = 0; w < BLOCK / 32; w++) {
    before += w < warp ? row->in_warp[w] : 0;
    all += row->in_warp[w];
  }
  if (*active) row->active[before + __popc(votes & ((1u << lane) - 1))] = threadIdx.x;
  __syncthreads();
  return all;
}

/// The end of a long row, as FinishRow() has it.
__device__ __forceinline__ void FinishLongRow(const FactorView &F, const Pivots &pivots, PetscInt r,
                                              const Scalar *values, LongRow *row, const Output &out)
{
  const PetscInt first = F.i[r], length = F.i[r + 1] - first, diagonal = F.diagonal[r] - first;
  PetscReal      others = 0;

  for (PetscInt k = diagonal + 1 + threadIdx.x; k < length; k += BLOCK) publish(out.values + first + k, values[k]);
  if (pivots.relative) {
    for (PetscInt k = (pivots.upper ? diagonal : 0) + threadIdx.x; k < length; k += BLOCK)
      if (k != diagonal) others += Magnitude(values[k]);
    for (int step = 16; step > 0; step /= 2) others += __shfl_xor_sync(ALL, others, step);
    if (threadIdx.x % 32 == 0) row->sum[threadIdx.x / 32] = others;
    __syncthreads();
    others = 0;
    for (int w = 0; w < BLOCK / 32; w++) others += row->sum[w];
  }
  if (threadIdx.x == 0) publish(out.values + first + diagonal, CheckPivot(values[diagonal], others, pivots, r, out));
  for (PetscInt k = threadIdx.x; k < diagonal; k += BLOCK) publish(out.values + first + k, values[k]);
  __syncthreads();
}

/// EliminateNear() by a block: its entries of L BLOCK at a time, of which a few are polled together. An entry of L that
/// has nothing to subtract costs no step of its own: long rows of circuit matrices have many of them. `values` are the
/// row's, in global memory.
static __device__ void EliminateByBlock(const FactorView &F, const Pivots &pivots, unsigned spins, PetscInt r,
                                        Scalar *values, LongRow *row, const Output &out)
{
  constexpr int   BATCH   = 8;
  const int       lane    = threadIdx.x;
  const PetscInt *columns = F.j + F.i[r];
  const PetscInt  length = F.i[r + 1] - F.i[r], lower = F.diagonal[r] - F.i[r];
  const Lookup    lookup = MakeLookup(F.rows, columns, length, row);

  if (lane == 0 && pivots.shift != 0) values[lower] = values[lower] + Scalar(pivots.shift);
  for (PetscInt chunk = 0; chunk < lower; chunk += BLOCK) {
    const PetscInt mine = chunk + lane;
    bool           active;
    const int      count = FindActive(F, mine, lower, lookup, row, &active);
    for (int begin = 0; begin < count; begin += BATCH) {
      PetscInt target[BATCH];
      Scalar   pivot[BATCH], u[BATCH];
#pragma unroll
      for (int q = 0; q < BATCH; q++) {
        const int      at = row->active[begin + q < count ? begin + q : begin];
        const PetscInt f  = row->diagonal[at] + 1 + lane;
        target[q]         = begin + q < count && f < row->stop[at] ? F.j[f] : -1;
        pivot[q] = u[q] = Scalar(0);
      }
#pragma unroll
      for (int q = 0; q < BATCH; q++)
        if (target[q] >= 0) target[q] = lookup(target[q]);
#pragma unroll
      for (int q = 0; q < BATCH; q++) {
        if (begin + q >= count) break;
        const PetscInt d = row->diagonal[row->active[begin + q]];
        pivot[q]         = poll(out.values + d);
        if (target[q] >= 0) u[q] = poll(out.values + d + 1 + lane);
      }
#pragma unroll
      for (int q = 0; q < BATCH; q++) {
        if (begin + q >= count) break;
        const int      at = row->active[begin + q];
        const PetscInt d = row->diagonal[at], e = chunk + at;
        if (IsMissing(pivot[q])) pivot[q] = Wait(out.values + d, spins, out.report);
        if (IsMissing(u[q])) u[q] = Wait(out.values + d + 1 + lane, spins, out.report);
        const Scalar factor = values[e] * pivot[q];
        if (target[q] >= 0) values[target[q]] = values[target[q]] - factor * u[q];
        SubtractRestByBlock(F, spins, d + 1 + BLOCK, row->stop[at], e + 1, length, lookup, values, factor, out);
        if (lane == 0) row->factor[at] = factor;
        __syncthreads(); // the next factor is one of these values
      }
    }
    if (mine < lower)
      values[mine] =
          active ? row->factor[lane] : values[mine] * Wait(out.values + row->diagonal[lane], spins, out.report);
    __syncthreads();
  }
  FinishLongRow(F, pivots, r, values, row, out);
}

} // namespace sparsegpu::ilu
