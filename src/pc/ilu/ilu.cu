/// The numeric factorization on the device, without any barrier between rows: every entry of U and every inverse pivot
/// is its own flag (see poll.cuh).
#include <climits>
#include "device/cuda_check.hpp"
#include "pc/ilu/eliminate_block.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

static constexpr int                THREADS = 128;
static constexpr unsigned long long NO_ROW  = ULLONG_MAX;
/// Entries of rows that a warp keeps in shared memory: so many that BLOCK threads' rows fit 48 KB.
static constexpr int NEAR = sizeof(Scalar) + 3 * sizeof(PetscInt) <= 20 ? 256 : 128;

static unsigned Blocks(PetscCount count)
{
  return static_cast<unsigned>((count + THREADS - 1) / THREADS);
}
/// Blocks of so many warps for `wanted` warps at work, `most` at most.
static unsigned Grid(PetscInt wanted, PetscInt warps, PetscInt most)
{
  return static_cast<unsigned>(PetscMin((wanted + warps - 1) / warps, most));
}

namespace
{
struct Tasks {
  PetscInt        count;
  const PetscInt *order, *first; ///< rows order[first[t]] ...; null: row t

  __device__ PetscInt Begin(PetscInt t) const { return first ? first[t] : t; }
  __device__ PetscInt Row(PetscInt k) const { return order ? order[k] : k; }
};
/// Tasks bundle[b] ... bundle[b + 1] - 1 are a block's: a warp's each, or one that is a long row.
struct Bundles {
  PetscInt        count;
  const PetscInt *first;
};

/// Rows of WARPS warps in shared memory.
template <int WARPS> struct NearRows {
  Scalar   values[WARPS][NEAR];
  PetscInt columns[WARPS][NEAR], diagonals[WARPS][NEAR], ends[WARPS][NEAR];

  __device__ NearRow At(int warp, int k)
  {
    return NearRow{values[warp] + k, columns[warp] + k, diagonals[warp] + k, ends[warp] + k};
  }
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

template <int LANES> __device__ __forceinline__ void LoadAndEliminate(const FactorView &F, const Pivots &pivots,
                                                                      unsigned spins, PetscInt r, const NearRow &row,
                                                                      const Scalar *work, const Output &out)
{
  const int      lane  = threadIdx.x % LANES;
  const unsigned mask  = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane);
  const PetscInt first = F.i[r], length = F.i[r + 1] - first;
  for (PetscInt k = lane; k < length; k += LANES) {
    row.values[k]  = work[first + k];
    row.columns[k] = F.j[first + k];
  }
  __syncwarp(mask);
  EliminateNear<LANES>(F, pivots, spins, r, row, out);
}

/// A task by a warp: LANES lanes per row, all 32 for a row that does not fit the share of a few. The rows of a task are
/// of one level: none waits for another.
template <int LANES, int WARPS>
__device__ __forceinline__ void DoTask(const FactorView &F, const Tasks &tasks, PetscInt t, const Pivots &pivots,
                                       unsigned spins, NearRows<WARPS> *near, const Scalar *work, const Output &out)
{
  constexpr int  SHARE = NEAR / (32 / LANES);
  const int      warp = threadIdx.x / 32, group = threadIdx.x % 32 / LANES;
  const PetscInt begin = tasks.Begin(t), rows = tasks.Begin(t + 1) - begin, head = tasks.Row(begin);
  if (rows == 1 && F.i[head + 1] - F.i[head] > SHARE) {
    LoadAndEliminate<32>(F, pivots, spins, head, near->At(warp, 0), work, out);
  } else if (group < rows) {
    LoadAndEliminate<LANES>(F, pivots, spins, tasks.Row(begin + group), near->At(warp, group * SHARE), work, out);
  }
  __syncwarp();
}

/// Warps take tasks by ticket, in the order of their levels, so that the oldest can always go on. No row is long.
template <int LANES> static __global__ void __launch_bounds__(THREADS, 4) // 16 warps: without it registers spill
    ilu_kernel(FactorView F, Tasks tasks, Pivots pivots, unsigned spins, const Scalar *work, Output out)
{
  __shared__ NearRows<THREADS / 32> near;

  for (;;) {
    unsigned long long t = 0;
    if (threadIdx.x % 32 == 0) t = atomicAdd(out.report + TICKET, 1ull);
    t = __shfl_sync(ALL, t, 0);
    if (t >= static_cast<unsigned long long>(tasks.count)) return;
    DoTask<LANES>(F, tasks, static_cast<PetscInt>(t), pivots, spins, &near, work, out);
  }
}

/// The same where there are long rows: blocks take bundles by ticket. The warps of a block wait for each other only at
/// its end, and its tasks only for earlier ones: again the oldest can always go on.
template <int LANES> static __global__ void __launch_bounds__(BLOCK)
    ilu_bundle_kernel(FactorView F, Tasks tasks, Bundles bundles, Pivots pivots, unsigned spins, Scalar *work,
                      Output out)
{
  using Near = NearRows<BLOCK / 32>;
  __shared__ __align__(16) unsigned char memory[sizeof(Near) > sizeof(LongRow) ? sizeof(Near) : sizeof(LongRow)];
  __shared__ unsigned long long          claimed;

  for (;;) {
    if (threadIdx.x == 0) claimed = atomicAdd(out.report + TICKET, 1ull);
    __syncthreads();
    const unsigned long long b = claimed;
    if (b >= static_cast<unsigned long long>(bundles.count)) return;
    const PetscInt t = bundles.first[b], count = bundles.first[b + 1] - t, head = tasks.Row(tasks.Begin(t));
    if (F.i[head + 1] - F.i[head] > NEAR)
      EliminateByBlock(F, pivots, spins, head, work + F.i[head], reinterpret_cast<LongRow *>(memory), out);
    else if (threadIdx.x / 32 < count)
      DoTask<LANES>(F, tasks, t + threadIdx.x / 32, pivots, spins, reinterpret_cast<Near *>(memory), work, out);
    __syncthreads();
  }
}

/// What CutGroups() makes bundles of: a group ends where long rows begin or end, and after each long row. *any: there
/// are long rows.
static __global__ void bundle_key_kernel(FactorView F, Tasks tasks, unsigned *key, int *any)
{
  const PetscCount t = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (t >= tasks.count) return;
  const PetscInt row     = tasks.Row(tasks.Begin(static_cast<PetscInt>(t)));
  const bool     is_long = F.i[row + 1] - F.i[row] > NEAR;
  key[t]                 = is_long ? 7 : 0;
  if (is_long) *any = 1;
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
    if (e < F.diagonal[r]) {
      Scalar          pivot = work[F.diagonal[F.j[e]]] + Scalar(pivots.shift);
      const PetscReal size  = pivots.positive ? RealPart(pivot) : Magnitude(pivot);
      if (pivots.replace != 0 && size <= pivots.zero) pivot += Scalar(pivots.replace); // as CheckPivot() has it
      out.values[e] = work[e] * Inverse(pivot);
    } else {
      out.values[e] = work[e];
    }
  }
  for (int step = 16; step > 0; step /= 2) others += __shfl_xor_sync(ALL, others, step);
  if (lane == 0)
    out.values[F.diagonal[r]] = CheckPivot(work[F.diagonal[r]] + Scalar(pivots.shift), others, pivots, r, out);
}

PetscErrorCode Numeric::Build(const FactorView &F, Incomplete kind, Scheduled *schedule, Stream stream)
{
  PetscFunctionBegin;
  factors_ = F;
  kind_    = kind;
  ordered_ = schedule && kind != Incomplete::None;
  lanes_   = 32;
  tasks_   = F.rows;
  bundles_ = 0;
  PetscCall(pivot_.Allocate(F.rows, Space::Device));
  PetscCall(report_.Allocate(3, Space::Device));
  if (kind == Incomplete::None || F.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (ordered_) {
    const PetscInt upper = (F.nonzeros / F.rows - 1) / 2; // entries of a row of U
    lanes_               = upper <= 4 ? 4 : upper <= 8 ? 8 : upper <= 16 ? 16 : 32;
    PetscCall(schedule->LowerTasks(NEAR / (32 / lanes_), 32 / lanes_, &order_, &first_, &tasks_, stream));
  }
  PetscCall(Bundle(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Numeric::Bundle(Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const Tasks        tasks{tasks_, ordered_ ? order_.data() : nullptr, ordered_ ? first_.data() : nullptr};
  Array<unsigned>    key;
  Array<int>         any;
  DeviceMemory       scratch;
  int                host_any = 0;

  PetscFunctionBegin;
  PetscCall(key.Allocate(tasks_, Space::Device));
  PetscCall(any.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(any.data(), 0, sizeof(int), s));
  bundle_key_kernel<<<Blocks(tasks_), THREADS, 0, s>>>(factors_, tasks, key.data(), any.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(&host_any, any.data(), sizeof(int), stream));
  if (!host_any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CutGroups(key.data(), tasks_, ~0u, BLOCK / 32, &bundle_, &bundles_, &scratch, stream));
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
  PetscCall(work_.Allocate(F.nonzeros, Space::Device));
  gather_kernel<<<Blocks(F.nonzeros), THREADS, 0, s>>>(F.nonzeros, source, matrix, work_.data(), out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (kind_ == Incomplete::None) {
    triangles_kernel<<<Blocks(static_cast<PetscCount>(F.rows) * 32), THREADS, 0, s>>>(F, pivots, work_.data(), out);
  } else {
    PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
    const PetscInt wanted = warps ? warps : 16 * multiprocessors; // measured
    if (bundles_ > 0) {
      const auto kernel = lanes_ == 4    ? ilu_bundle_kernel<4>
                          : lanes_ == 8  ? ilu_bundle_kernel<8>
                          : lanes_ == 16 ? ilu_bundle_kernel<16>
                                         : ilu_bundle_kernel<32>;
      kernel<<<Grid(wanted, BLOCK / 32, bundles_), BLOCK, 0, s>>>(F, tasks, Bundles{bundles_, bundle_.data()}, pivots,
                                                                  Spins(spins), work_.data(), out);
    } else {
      const auto kernel = lanes_ == 4    ? ilu_kernel<4>
                          : lanes_ == 8  ? ilu_kernel<8>
                          : lanes_ == 16 ? ilu_kernel<16>
                                         : ilu_kernel<32>;
      kernel<<<Grid(wanted, THREADS / 32, (tasks_ + THREADS / 32 - 1) / (THREADS / 32)), THREADS, 0, s>>>(
          F, tasks, pivots, Spins(spins), work_.data(), out);
    }
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

} // namespace sparsegpu::ilu
