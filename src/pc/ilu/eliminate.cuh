/// How lanes eliminate one row.
#pragma once

#include "pc/ilu/ilu.hpp"
#include "pc/trisolve/poll.cuh"

namespace sparsegpu
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

/// Where `column` lies among columns[begin .. end), ascending; -1: nowhere.
__device__ __forceinline__ PetscInt Find(const PetscInt *columns, PetscInt begin, PetscInt end, PetscInt column)
{
  const PetscInt stop = end;
  while (begin < end) {
    const PetscInt middle = begin + (end - begin) / 2;
    if (columns[middle] < column)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin < stop && columns[begin] == column ? begin : -1;
}

__device__ __forceinline__ Scalar Wait(const Scalar *p, long long spins, unsigned long long *report)
{
  Scalar v = poll(p);
  for (long long polls = 0; IsMissing(v); v = poll(p))
    if (++polls > spins) {
      report[STUCK] = 1;
      return GivenUp();
    }
  return v;
}

/// Tells of a zero pivot; returns the inverse of what stands in for it.
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

/// values -= factor * the entries rest .. end of a row of U: each of them is looked for in the row at work from entry
/// `own` on, or the other way round, whatever is less work. Four at a time, so that loads overlap.
template <int LANES> __device__ __forceinline__ void SubtractRest(const FactorView &F, long long spins, PetscInt rest,
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

/// The end of row r: its pivot, and its entries for the others.
template <int LANES> __device__ __forceinline__ void FinishRow(const FactorView &F, const Pivots &pivots, PetscInt r,
                                                               Scalar *values, const Output &out)
{
  const int      lane   = threadIdx.x % LANES;
  const unsigned mask   = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane);
  const PetscInt length = F.i[r + 1] - F.i[r], diagonal = F.diagonal[r] - F.i[r];
  PetscReal      others = 0;
  for (PetscInt k = (pivots.upper ? diagonal : 0) + lane; k < length; k += LANES)
    if (k != diagonal) others += Magnitude(values[k]);
  for (int step = LANES / 2; step > 0; step /= 2) others += __shfl_xor_sync(mask, others, step, LANES);
  if (lane == 0) values[diagonal] = CheckPivot(values[diagonal], others, pivots, r, out);
  __syncwarp(mask);
  for (PetscInt k = lane; k < length; k += LANES) publish(out.values + F.i[r] + k, values[k]);
  __syncwarp(mask);
}

/// Row-wise Gaussian elimination of row r by LANES lanes: for each entry m of L in ascending order, once row m of U is
/// there, it is subtracted, each lane a part of its entries. Where it goes is found before the wait. `columns` and
/// `values` are the row's, in shared memory. A fixed order for every entry: bitwise reproducible.
template <int LANES> __device__ __forceinline__ void EliminateNear(const FactorView &F, const Pivots &pivots,
                                                                   long long spins, PetscInt r, const PetscInt *columns,
                                                                   Scalar *values, const Output &out)
{
  const int      lane   = threadIdx.x % LANES;
  const unsigned mask   = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane);
  const PetscInt length = F.i[r + 1] - F.i[r], diagonal = F.diagonal[r] - F.i[r];
  PetscInt       m_diagonal = 0, m_end = 0, target = -1; // of the entry at work
  const auto     prepare = [&](PetscInt e) {
    m_diagonal       = F.diagonal[columns[e]];
    m_end            = F.i[columns[e] + 1];
    const PetscInt f = m_diagonal + 1 + lane;
    target           = f < m_end ? Find(columns, e + 1, length, F.j[f]) : -1;
  };

  if (lane == 0 && pivots.shift != 0) values[diagonal] = values[diagonal] + Scalar(pivots.shift);
  __syncwarp(mask);
  if (diagonal > 0) prepare(0);
  for (PetscInt e = 0; e < diagonal; e++) {
    const PetscInt d = m_diagonal, end = m_end, here = target;
    if (e + 1 < diagonal) prepare(e + 1);
    Scalar    pivot = NotYet(), u = NotYet();
    long long polls = 0;
    for (;;) {
      if (IsMissing(pivot)) pivot = poll(out.values + d);
      if (here >= 0 && IsMissing(u)) u = poll(out.values + d + 1 + lane);
      if (__all_sync(mask, !IsMissing(pivot) && (here < 0 || !IsMissing(u)))) break;
      if (++polls > spins) { // the same number in all lanes
        out.report[STUCK] = 1;
        pivot = u = GivenUp();
        break;
      }
    }
    const Scalar factor = values[e] * pivot;
    if (here >= 0) values[here] = values[here] - factor * u;
    SubtractRest<LANES>(F, spins, d + 1 + LANES, end, e + 1, length, columns, values, factor, out);
    __syncwarp(mask);
    if (lane == 0) values[e] = factor;
    __syncwarp(mask);
  }
  FinishRow<LANES>(F, pivots, r, values, out);
}

/// The same by a warp, in global memory, for long rows, which are bound by latencies: a few m at a time.
static __device__ void EliminateFar(const FactorView &F, const Pivots &pivots, long long spins, PetscInt r,
                                    const PetscInt *columns, Scalar *values, const Output &out)
{
  constexpr int  BATCH = 4, LANES = 32;
  const int      lane   = threadIdx.x % LANES;
  const unsigned mask   = ALL;
  const PetscInt length = F.i[r + 1] - F.i[r], diagonal = F.diagonal[r] - F.i[r];

  if (lane == 0 && pivots.shift != 0) values[diagonal] = values[diagonal] + Scalar(pivots.shift);
  __syncwarp(mask);
  for (PetscInt begin = 0; begin < diagonal; begin += BATCH) {
    PetscInt d[BATCH], end[BATCH], key[BATCH], target[BATCH];
    Scalar   pivot[BATCH], u[BATCH];
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      const PetscInt m = columns[begin + q < diagonal ? begin + q : begin];
      d[q]             = F.diagonal[m];
      end[q]           = F.i[m + 1];
    }
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      pivot[q] = u[q] = NotYet();
      key[q]          = begin + q < diagonal && d[q] + 1 + lane < end[q] ? F.j[d[q] + 1 + lane] : -1;
    }
    FindTogether<BATCH>(columns, length, key, target);
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      if (begin + q >= diagonal) break;
      const PetscInt e     = begin + q;
      long long      polls = 0;
      for (;;) {
#pragma unroll
        for (int p = 0; p < BATCH; p++) {
          if (p < q || begin + p >= diagonal) continue;
          if (IsMissing(pivot[p])) pivot[p] = poll(out.values + d[p]);
          if (target[p] >= 0 && IsMissing(u[p])) u[p] = poll(out.values + d[p] + 1 + lane);
        }
        if (__all_sync(mask, !IsMissing(pivot[q]) && (target[q] < 0 || !IsMissing(u[q])))) break;
        if (++polls > spins) { // the same number in all lanes
          out.report[STUCK] = 1;
          pivot[q] = u[q] = GivenUp();
          break;
        }
      }
      const Scalar factor = values[e] * pivot[q];
      if (target[q] >= 0) values[target[q]] = values[target[q]] - factor * u[q];
      SubtractRest<LANES>(F, spins, d[q] + 1 + LANES, end[q], e + 1, length, columns, values, factor, out);
      __syncwarp(mask);
      if (lane == 0) values[e] = factor;
      __syncwarp(mask);
    }
  }
  FinishRow<LANES>(F, pivots, r, values, out);
}

} // namespace sparsegpu
