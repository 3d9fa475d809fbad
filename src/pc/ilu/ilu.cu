/// The numeric factorization on the device, without any barrier between rows: every entry of U and every inverse pivot
/// is its own flag (see poll.cuh).
#include <climits>
#include "device/cuda_check.hpp"
#include "pc/ilu/ilu.hpp"
#include "pc/trisolve/poll.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int                THREADS = 128, WARPS = THREADS / 32;
static constexpr int                NEAR   = 256; ///< entries of rows that a warp keeps in shared memory
static constexpr unsigned           ALL    = 0xffffffffu;
static constexpr unsigned long long NO_ROW = ULLONG_MAX;

static unsigned Blocks(PetscCount count)
{
  return static_cast<unsigned>((count + THREADS - 1) / THREADS);
}

namespace
{
struct Tasks {
  PetscInt        count;
  const PetscInt *order, *first; ///< rows order[first[t]] ...; null: row t
};
/// The report's words.
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
} // namespace

/// The matrix's values in the factors' pattern; the factors to be are not yet there.
static __global__ void gather_kernel(PetscInt count, const PetscInt *source, const Scalar *matrix, Scalar *work,
                                     Output out)
{
  const PetscCount e = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (e < count) {
    const PetscInt from = source ? source[e] : static_cast<PetscInt>(e);
    work[e]             = from >= 0 ? matrix[from] : Scalar(0);
    out.values[e]       = NotYet();
  }
  if (e == 0) {
    out.report[ZERO_ROW] = NO_ROW;
    out.report[TICKET] = out.report[STUCK] = 0;
  }
}

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

/// Warps take tasks by ticket, in the order of their levels, so that the oldest can always go on. The rows of a task
/// are of one level: none waits for another. LANES lanes per row, all 32 for a row that does not fit shared memory.
template <int LANES> static __global__ void __launch_bounds__(THREADS)
    ilu_kernel(FactorView F, Tasks tasks, Pivots pivots, long long spins, Scalar *work, Output out)
{
  __shared__ Scalar   near_values[WARPS][NEAR];
  __shared__ PetscInt near_columns[WARPS][NEAR];
  constexpr int       SHARE = NEAR / (32 / LANES); // a row's part of it
  const int           lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / LANES;

  for (;;) {
    unsigned long long t = 0;
    if (lane == 0) t = atomicAdd(out.report + TICKET, 1ull);
    t = __shfl_sync(ALL, t, 0);
    if (t >= static_cast<unsigned long long>(tasks.count)) return;
    const PetscInt begin = tasks.first ? tasks.first[t] : static_cast<PetscInt>(t),
                   rows  = tasks.first ? tasks.first[t + 1] - begin : 1;
    const PetscInt r     = group < rows ? (tasks.order ? tasks.order[begin + group] : begin) : -1;
    const PetscInt head = __shfl_sync(ALL, r, 0), head_length = F.i[head + 1] - F.i[head];
    if (rows == 1 && head_length > SHARE) {
      EliminateFar(F, pivots, spins, head, F.j + F.i[head], work + F.i[head], out);
    } else if (r >= 0) {
      const unsigned mask    = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (group * LANES);
      Scalar        *values  = near_values[warp] + group * SHARE;
      PetscInt      *columns = near_columns[warp] + group * SHARE;
      const PetscInt first = F.i[r], length = F.i[r + 1] - first;
      for (PetscInt k = lane % LANES; k < length; k += LANES) {
        values[k]  = work[first + k];
        columns[k] = F.j[first + k];
      }
      __syncwarp(mask);
      EliminateNear<LANES>(F, pivots, spins, r, columns, values, out);
    }
    __syncwarp();
  }
}

/// The triangles of the matrix themselves: L D^-1 and D + U. A warp per row.
static __global__ void __launch_bounds__(THREADS)
    triangles_kernel(FactorView F, Pivots pivots, const Scalar *work, Output out)
{
  const PetscInt r    = static_cast<PetscInt>((static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / 32);
  const int      lane = threadIdx.x % 32;
  if (r >= F.rows) return;
  PetscReal others = 0;
  for (PetscInt e = F.i[r] + lane; e < F.i[r + 1]; e += 32) {
    if (e == F.diagonal[r]) continue;
    others += Magnitude(work[e]);
    out.values[e] = e < F.diagonal[r] ? work[e] * Inverse(work[F.diagonal[F.j[e]]] + Scalar(pivots.shift)) : work[e];
  }
  for (int step = 16; step > 0; step /= 2) others += __shfl_xor_sync(ALL, others, step);
  if (lane == 0)
    out.values[F.diagonal[r]] = CheckPivot(work[F.diagonal[r]] + Scalar(pivots.shift), others, pivots, r, out);
}

PetscErrorCode Numeric::Build(const FactorView &F, Incomplete kind, Sweep *schedule, Stream stream)
{
  PetscFunctionBegin;
  factors_ = F;
  kind_    = kind;
  ordered_ = schedule && kind != Incomplete::None;
  lanes_   = 32;
  tasks_   = F.rows;
  PetscCall(work_.Allocate(F.nonzeros, Space::Device));
  PetscCall(pivot_.Allocate(F.rows, Space::Device));
  PetscCall(report_.Allocate(3, Space::Device));
  if (!ordered_ || F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt upper = (F.nonzeros / F.rows - 1) / 2; // entries of a row of U
  lanes_               = upper <= 4 ? 4 : upper <= 8 ? 8 : upper <= 16 ? 16 : 32;
  PetscCall(schedule->LowerTasks(NEAR / (32 / lanes_), 32 / lanes_, &order_, &first_, &tasks_, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Numeric::Factor(const Scalar *matrix, const PetscInt *source, const Pivots &pivots, long long spins,
                               Scalar *values, PetscInt *zero_row, PetscReal *zero_pivot, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const FactorView  &F = factors_;
  const Output       out{values, pivot_.data(), report_.data()};
  const Tasks        tasks{tasks_, ordered_ ? order_.data() : nullptr, ordered_ ? first_.data() : nullptr};
  PetscInt           multiprocessors;
  unsigned long long report[3];

  PetscFunctionBegin;
  *zero_row = -1;
  if (F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  gather_kernel<<<Blocks(F.nonzeros), THREADS, 0, s>>>(F.nonzeros, source, matrix, work_.data(), out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (kind_ == Incomplete::None) {
    triangles_kernel<<<Blocks(static_cast<PetscCount>(F.rows) * 32), THREADS, 0, s>>>(F, pivots, work_.data(), out);
  } else {
    PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
    const PetscInt wanted = ((warps ? warps : 16 * multiprocessors) + WARPS - 1) / WARPS; // measured
    const unsigned blocks = static_cast<unsigned>(PetscMin(wanted, (tasks_ + WARPS - 1) / WARPS));
    const auto     kernel = lanes_ == 4    ? ilu_kernel<4>
                            : lanes_ == 8  ? ilu_kernel<8>
                            : lanes_ == 16 ? ilu_kernel<16>
                                           : ilu_kernel<32>;
    kernel<<<blocks, THREADS, 0, s>>>(F, tasks, pivots, spins, work_.data(), out);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(report, report_.data(), sizeof(report), stream));
  PetscCheck(!report[STUCK], PETSC_COMM_SELF, PETSC_ERR_GPU,
             "A factorization made no progress in %lld polls (-mat_sparsegpu_trisolve_spins) and gave up", spins);
  if (report[ZERO_ROW] == NO_ROW) PetscFunctionReturn(PETSC_SUCCESS);
  *zero_row = static_cast<PetscInt>(report[ZERO_ROW]);
  PetscCall(DeviceCopyOut(zero_pivot, pivot_.data() + *zero_row, sizeof(PetscReal), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
