/// Triangular solves on the GPU, a warp per row, each waiting for the unknowns it needs (sync-free); levels recorded by
/// a first solve serve the later ones.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/sort.hpp"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "pc/trisolve/syncfree.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr int      SYNCFREE_THREADS = 128, WARPS = SYNCFREE_THREADS / 32;
static constexpr int      FUSED = 1024; ///< threads of the block that runs through narrow levels
static constexpr unsigned ALL   = 0xffffffffu;

__device__ __forceinline__ int load_acquire(const int *p)
{
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store_release(int *p, int v)
{
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/// What a sweep over one factor reads and writes: out = factor^-1 in.
struct OneSweep {
  FactorView      F;
  bool            upper;
  const Scalar   *a;
  const Scalar   *in;    ///< [rows]
  const PetscInt *in_at; ///< in[in_at[r]] is of row r; null: in[r]
  Scalar         *out;   ///< [rows] in the order of elimination
  Scalar         *x;     ///< x[F.column[r]] as well; null: no
};

/// Row r by a warp; `ready(column)` returns once the unknown is known, false past the limit of polls.
template <class Ready> __device__ __forceinline__ bool WarpRow(const OneSweep &S, PetscInt r, const Ready &ready)
{
  const int      lane  = threadIdx.x % 32;
  const PetscInt begin = S.upper ? S.F.diagonal[r] + 1 : S.F.i[r], end = S.upper ? S.F.i[r + 1] : S.F.diagonal[r];
  Scalar         sum(0);
  bool           go = true;
  for (PetscInt e = begin + lane; e < end; e += 32) {
    const PetscInt column = S.F.j[e];
    if (!ready(column)) {
      go = false;
      break;
    }
    sum += S.a[e] * load_shared(S.out + column);
  }
  if (!__all_sync(ALL, go)) return false;
  sum = group_sum<32>(sum);
  if (lane == 0) {
    Scalar result = S.in[S.in_at ? S.in_at[r] : r] - sum;
    if (S.upper != S.F.lower_diagonal) result = result * S.a[S.F.diagonal[r]];
    S.out[r] = result;
    if (S.x) S.x[S.F.column ? S.F.column[r] : r] = result;
  }
  return true;
}

/// Warps take rows in the order of the launch. That order affects the time only: a warp that waits too long leaves its
/// row.
static __global__ void __launch_bounds__(SYNCFREE_THREADS) syncfree_kernel(OneSweep S, SyncfreeWork work)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * WARPS + threadIdx.x / 32;
  if (k >= S.F.rows) return;
  const PetscInt r = S.upper ? S.F.rows - 1 - k : k;
  if (work.done[r]) return; // by an earlier launch
  int        level = 0;
  long long  polls = 0;
  const bool done  = WarpRow(S, r, [&](PetscInt column) {
    int l;
    while ((l = load_acquire(work.done + column)) == 0)
      if (++polls > work.spins) return false;
    level = l > level ? l : level;
    return true;
  });
  if (done) {
    for (int mask = 16; mask > 0; mask /= 2) level = max(level, __shfl_xor_sync(ALL, level, mask));
    if (threadIdx.x % 32 == 0) store_release(work.done + r, level + 1);
  } else if (threadIdx.x % 32 == 0) {
    *static_cast<volatile int *>(work.child) = 1;
  }
}

/// One level, all of whose rows can run.
static __global__ void __launch_bounds__(SYNCFREE_THREADS)
    level_rows_kernel(OneSweep S, const PetscInt *order, PetscInt begin, PetscInt end)
{
  const PetscInt k = begin + static_cast<PetscInt>(blockIdx.x) * WARPS + threadIdx.x / 32;
  if (k < end) WarpRow(S, order[k], [](PetscInt) { return true; });
}
/// Levels from `level` to `last`, one after the other, by one block.
static __global__ void __launch_bounds__(FUSED)
    fused_levels_kernel(OneSweep S, const PetscInt *order, const PetscInt *begin, PetscInt level, PetscInt last)
{
  for (; level < last; level++) {
    for (PetscInt k = begin[level] + threadIdx.x / 32; k < begin[level + 1]; k += FUSED / 32)
      WarpRow(S, order[k], [](PetscInt) { return true; });
    __syncthreads();
  }
}

static __global__ void level_keys_kernel(PetscInt rows, const int *done, unsigned *key)
{
  const PetscInt r = static_cast<PetscInt>(blockIdx.x) * SYNCFREE_THREADS + threadIdx.x;
  if (r < rows) key[r] = static_cast<unsigned>(done[r]) << 3;
}

PetscErrorCode Syncfree::Analyse(const FactorView &factors, Stream)
{
  PetscFunctionBegin;
  PetscCheck(factors.rows < 1 << 28, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Solves on a GPU take factors of fewer than %d rows, not %" PetscInt_FMT, 1 << 28, factors.rows);
  factors_ = factors;
  PetscCall(AllocateStuck());
  for (int f = 0; f < 2; f++) {
    PetscCall(done_[f].Allocate(factors.rows, Space::Device));
    begin_[f].clear();
  }
  PetscCall(lower_.Allocate(factors.rows, Space::Device));
  PetscCall(upper_.Allocate(factors.rows, Space::Device));
  lower_levels = upper_levels = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Syncfree::SetValues(const Scalar *values, Stream)
{
  PetscFunctionBegin;
  values_ = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order of the rows from the levels that their flags hold.
PetscErrorCode Syncfree::FindLevels(bool upper, Stream stream)
{
  const PetscInt  rows = factors_.rows;
  Array<unsigned> key;
  Array<PetscInt> first;
  PetscInt        levels;

  PetscFunctionBegin;
  PetscCall(key.Allocate(rows, Space::Device));
  level_keys_kernel<<<Blocks(rows, SYNCFREE_THREADS), SYNCFREE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      rows, done_[upper].data(), key.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(SortKeys(rows, 32, &key, &order_[upper], &scratch_, stream));
  PetscCall(CutGroups(key.data(), rows, ~0u, 1u << 31, &device_begin_[upper], &levels, &scratch_, stream));
  PetscCallCXX(begin_[upper].resize(static_cast<size_t>(levels) + 1));
  PetscCall(DeviceCopyOut(begin_[upper].data(), device_begin_[upper].data(), device_begin_[upper].bytes(), stream));
  (upper ? upper_levels : lower_levels) = levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Syncfree::SolveLevels(bool upper, const Scalar *b, const Scalar *w, Scalar *out, Scalar *x,
                                     Stream stream)
{
  const cudaStream_t           s      = static_cast<cudaStream_t>(stream);
  const std::vector<PetscInt> &begin  = begin_[upper];
  const PetscInt               levels = static_cast<PetscInt>(begin.size()) - 1;
  const OneSweep S{factors_, upper, values_, upper ? w : b, upper ? nullptr : factors_.row, out, upper ? x : nullptr};

  PetscFunctionBegin;
  for (PetscInt level = 0; level < levels;) {
    PetscInt last = level;
    while (last < levels && begin[last + 1] - begin[last] <= FUSED / 32 * 4) last++;
    if (last > level + 1) {
      fused_levels_kernel<<<1, FUSED, 0, s>>>(S, order_[upper].data(), device_begin_[upper].data(), level, last);
      level = last;
    } else {
      level_rows_kernel<<<Blocks(begin[level + 1] - begin[level], WARPS), SYNCFREE_THREADS, 0, s>>>(
          S, order_[upper].data(), begin[level], begin[level + 1]);
      level++;
    }
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Launches until no row is left. The oldest unfinished row depends on no other, so each launch finishes some.
PetscErrorCode Syncfree::OneFactor(bool upper, const Scalar *b, const Scalar *w, Scalar *out, Scalar *x, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  const OneSweep S{factors_, upper, values_, upper ? w : b, upper ? nullptr : factors_.row, out, upper ? x : nullptr};
  volatile int  *child = stuck();
  // A launch waits far less long than the watchdog lets a solve wait
  const long long    spins = options.spins < 1 << 16 ? options.spins : 1 << 16;
  const SyncfreeWork work{done_[upper].data(), stuck(), spins};
  std::vector<int>   before, after;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaMemsetAsync(work.done, 0, done_[upper].bytes(), s));
  for (PetscInt launch = 0;; launch++) {
    *child = 0;
    syncfree_kernel<<<Blocks(factors_.rows, WARPS), SYNCFREE_THREADS, 0, s>>>(S, work);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(DeviceSynchronize(stream));
    if (!*child) break;
    if (launch % 16 != 15) continue; // now and then: is there any progress?
    PetscCallCXX(after.resize(factors_.rows));
    PetscCall(DeviceCopyOut(after.data(), work.done, done_[upper].bytes(), stream));
    if (after == before) {
      *child = 1;
      PetscCall(CheckStuck());
    }
    std::swap(before, after);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Syncfree::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream)
{
  PetscFunctionBegin;
  if (factors_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
    for (const bool upper : {false, true}) {
      Scalar *out = upper ? upper_.data() : lower_.data();
      if (by_levels_ && !begin_[upper].empty()) {
        PetscCall(SolveLevels(upper, b, lower_.data(), out, x, stream));
        continue;
      }
      PetscCall(OneFactor(upper, b, lower_.data(), out, x, stream));
      if (by_levels_) PetscCall(FindLevels(upper, stream));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t Syncfree::Bytes() const
{
  size_t bytes = lower_.bytes() + upper_.bytes() + scratch_.bytes();
  for (int f = 0; f < 2; f++) bytes += done_[f].bytes() + order_[f].bytes() + device_begin_[f].bytes();
  return bytes;
}

} // namespace sparsegpu::trisolve
