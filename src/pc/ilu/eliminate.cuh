/// How the lanes of a warp eliminate one row.
#pragma once

#include "device/search.cuh"
#include "pc/ilu/ilu.hpp"
#include "pc/trisolve/poll.cuh"

namespace sparsegpu::ilu
{

static constexpr unsigned ALL = 0xffffffffu;

/// The words of a report.
enum {
  ZERO_ROW,
  TICKET,
  STUCK
};
struct Output {
  Scalar             *values;
  PetscReal          *pivot;
  unsigned long long *report;
};

__device__ __forceinline__ Scalar Wait(const Scalar *p, unsigned spins, unsigned long long *report)
{
  Scalar   v = poll(p);
  Patience patience;
  for (; IsMissing(v); v = poll(p))
    if (patience.Ends(spins, report + TICKET, report + STUCK)) {
      report[STUCK] = 1;
      return GivenUp();
    }
  return v;
}

/// Reports a zero pivot; returns the inverse of its replacement.
__device__ __forceinline__ Scalar CheckPivot(Scalar pivot, PetscReal others, const Pivots &pivots, PetscInt r,
                                             const Output &out)
{
  const PetscReal size = pivots.positive ? RealPart(pivot) : Magnitude(pivot);
  out.pivot[r]         = Magnitude(pivot);
  if (size <= pivots.zero * (pivots.relative ? others : 1) || (pivots.nan && Magnitude(pivot) != Magnitude(pivot))) {
    atomicMin(out.report + ZERO_ROW, static_cast<unsigned long long>(r));
    pivot += Scalar(pivots.replace);
  }
  return Inverse(pivot);
}

/// Where keys [COUNT] would lie among columns[0 .. length), ascending: all searches step together, so that their loads
/// overlap. at[q] = -1: nowhere.
template <int COUNT> __device__ __forceinline__ void FindTogether(const PetscInt *columns, PetscInt length,
                                                                  const PetscInt *keys, PetscInt *at)
{
#pragma unroll
  for (int q = 0; q < COUNT; q++) at[q] = 0;
  for (PetscInt n = length; n > 1; n -= n / 2) {
    const PetscInt half = n / 2;
#pragma unroll
    for (int q = 0; q < COUNT; q++)
      if (columns[at[q] + half - 1] < keys[q]) at[q] += half;
  }
#pragma unroll
  for (int q = 0; q < COUNT; q++)
    if (columns[at[q]] != keys[q]) at[q] = -1;
}

/// values -= factor * the entries rest .. end of a row of U: each is searched in the current row from entry `own`
/// on, or the other way round, whichever is less work. Four at a time, so that loads overlap.
template <int LANES> __device__ __forceinline__ void SubtractRest(const FactorView &F, unsigned spins, PetscInt rest,
                                                                  PetscInt end, PetscInt own, PetscInt length,
                                                                  const PetscInt *columns, Scalar *values,
                                                                  Scalar factor, const Output &out)
{
  constexpr int  BATCH = 4;
  const PetscInt count = end - rest, others = length - own;
  if (count <= 0 || others <= 0) return;
  const bool      theirs = others * static_cast<PetscCount>(32 - __clz(static_cast<int>(count))) < count;
  const PetscInt *keys = theirs ? columns + own : F.j + rest, *among = theirs ? F.j + rest : columns + own;
  const PetscInt  key_count = theirs ? others : count, among_count = theirs ? count : others;
  for (PetscInt first = threadIdx.x % LANES; first < key_count; first += BATCH * LANES) {
    PetscInt key[BATCH], at[BATCH];
    Scalar   u[BATCH];
#pragma unroll
    for (int q = 0; q < BATCH; q++) key[q] = first + q * LANES < key_count ? keys[first + q * LANES] : -1;
    FindTogether<BATCH>(among, among_count, key, at);
#pragma unroll
    for (int q = 0; q < BATCH; q++)
      if (at[q] >= 0) u[q] = poll(out.values + rest + (theirs ? at[q] : first + q * LANES));
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      if (at[q] < 0) continue;
      if (IsMissing(u[q])) u[q] = Wait(out.values + rest + (theirs ? at[q] : first + q * LANES), spins, out.report);
      Scalar &value = values[own + (theirs ? first + q * LANES : at[q])];
      value         = value - factor * u[q];
    }
  }
}

/// A row in shared memory, and where the rows that its entries of L name have their pivots and their ends.
struct NearRow {
  Scalar   *values;           ///< [length]
  PetscInt *columns;          ///< [length]
  PetscInt *diagonals, *ends; ///< [length], of which those of L are set
};

/// Publishes row r, the entries that other rows wait for first.
template <int LANES> __device__ __forceinline__ void FinishRow(const FactorView &F, const Pivots &pivots, PetscInt r,
                                                               const NearRow &row, const Output &out)
{
  const int      lane  = threadIdx.x % LANES;
  const unsigned mask  = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane);
  const PetscInt first = F.i[r], length = F.i[r + 1] - first, diagonal = F.diagonal[r] - first;
  PetscReal      others = 0;
  for (PetscInt k = diagonal + 1 + lane; k < length; k += LANES) publish(out.values + first + k, row.values[k]);
  if (pivots.relative) {
    for (PetscInt k = (pivots.upper ? diagonal : 0) + lane; k < length; k += LANES)
      if (k != diagonal) others += Magnitude(row.values[k]);
    for (int step = LANES / 2; step > 0; step /= 2) others += __shfl_xor_sync(mask, others, step, LANES);
  }
  if (lane == 0) publish(out.values + first + diagonal, CheckPivot(row.values[diagonal], others, pivots, r, out));
  for (PetscInt k = lane; k < diagonal; k += LANES) publish(out.values + first + k, row.values[k]);
  __syncwarp(mask); // the row's memory is the next one's
}

/// The entries that a lane searches for a few entries of L at a time: entry lane, LANES + lane, ... of the rows of U
/// that they name.
template <int LANES, int BATCH, int SLOTS> struct Ahead {
  PetscInt diagonal[BATCH], end[BATCH], target[BATCH * SLOTS]; ///< a target of -1: nothing to subtract

  __device__ __forceinline__ void Load(const FactorView &F, const NearRow &row, PetscInt begin, PetscInt lower,
                                       PetscInt length)
  {
    PetscInt key[BATCH * SLOTS];
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      const PetscInt e = begin + q < lower ? begin + q : lower - 1;
      diagonal[q]      = row.diagonals[e];
      end[q]           = begin + q < lower ? row.ends[e] : 0;
#pragma unroll
      for (int slot = 0; slot < SLOTS; slot++) {
        const PetscInt f      = diagonal[q] + 1 + slot * LANES + static_cast<int>(threadIdx.x % LANES);
        key[q * SLOTS + slot] = f < end[q] ? F.j[f] : -1;
      }
    }
    FindTogether<BATCH * SLOTS>(row.columns, length, key, target);
  }
};

/// Row-wise Gaussian elimination of row r by LANES lanes: for each entry m of L in ascending order, once row m of U is
/// there, it is subtracted, each lane a part of its entries. Where they go is found before the wait, and all of a few m
/// are polled together. A fixed order for every entry: bitwise reproducible.
template <int LANES> __device__ __forceinline__ void EliminateNear(const FactorView &F, const Pivots &pivots,
                                                                   unsigned spins, PetscInt r, const NearRow &row,
                                                                   const Output &out)
{
  // more entries of L at a time where rows have more of them; a second slot for rows of U of more than a warp
  constexpr int  BATCH = LANES == 4 ? 1 : LANES == 16 ? 4 : 2, SLOTS = LANES == 32 ? 2 : 1;
  const int      lane   = threadIdx.x % LANES;
  const unsigned mask   = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane);
  const PetscInt length = F.i[r + 1] - F.i[r], lower = F.diagonal[r] - F.i[r];

  for (PetscInt e = lane; e < lower; e += LANES) {
    row.diagonals[e] = F.diagonal[row.columns[e]];
    row.ends[e]      = F.i[row.columns[e] + 1];
  }
  if (lane == 0 && pivots.shift != 0) row.values[lower] = row.values[lower] + Scalar(pivots.shift);
  __syncwarp(mask);
  Ahead<LANES, BATCH, SLOTS> next;
  if (lower > 0) next.Load(F, row, 0, lower, length);
  for (PetscInt begin = 0; begin < lower; begin += BATCH) {
    const Ahead<LANES, BATCH, SLOTS> now = next;
    Scalar                           pivot[BATCH], u[BATCH * SLOTS];
#pragma unroll
    for (int q = 0; q < BATCH; q++) pivot[q] = NotYet();
#pragma unroll
    for (int p = 0; p < BATCH * SLOTS; p++) u[p] = now.target[p] >= 0 ? NotYet() : Scalar(0);
    if (begin + BATCH < lower) next.Load(F, row, begin + BATCH, lower, length);
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      if (begin + q >= lower) break;
      Patience patience;
      for (;;) {
        bool ready = true;
#pragma unroll
        for (int p = q; p < BATCH; p++) {
          if (begin + p >= lower) break;
          if (IsMissing(pivot[p])) pivot[p] = poll(out.values + now.diagonal[p]);
#pragma unroll
          for (int slot = p * SLOTS; slot < (p + 1) * SLOTS; slot++)
            if (IsMissing(u[slot]))
              u[slot] = poll(out.values + now.diagonal[p] + 1 + (slot - p * SLOTS) * LANES + lane);
        }
#pragma unroll
        for (int slot = q * SLOTS; slot < (q + 1) * SLOTS; slot++) ready = ready && !IsMissing(u[slot]);
        if (__all_sync(mask, ready && !IsMissing(pivot[q]))) break;
        // the same number of polls in all lanes, which may see different progress
        if (patience.Tried(spins) && __all_sync(mask, patience.Over(out.report + TICKET, out.report + STUCK))) {
          out.report[STUCK] = 1;
          pivot[q]          = GivenUp();
#pragma unroll
          for (int slot = q * SLOTS; slot < (q + 1) * SLOTS; slot++) u[slot] = GivenUp();
          break;
        }
      }
      const PetscInt e      = begin + q;
      const Scalar   factor = row.values[e] * pivot[q];
#pragma unroll
      for (int slot = q * SLOTS; slot < (q + 1) * SLOTS; slot++)
        if (now.target[slot] >= 0) row.values[now.target[slot]] = row.values[now.target[slot]] - factor * u[slot];
      SubtractRest<LANES>(F, spins, now.diagonal[q] + 1 + SLOTS * LANES, now.end[q], e + 1, length, row.columns,
                          row.values, factor, out);
      __syncwarp(mask); // all have read values[e]
      if (lane == 0) row.values[e] = factor;
    }
  }
  __syncwarp(mask);
  FinishRow<LANES>(F, pivots, r, row, out);
}

} // namespace sparsegpu::ilu
