/// The numeric factorization on the device, without any barrier between rows: every entry of U and every inverse pivot
/// is its own flag (see poll.cuh).
#include <climits>
#include "device/cuda_check.hpp"
#include "pc/ilu/eliminate.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int                THREADS = 128, WARPS = THREADS / 32;
static constexpr int                NEAR   = 256; ///< entries of rows that a warp keeps in shared memory
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
