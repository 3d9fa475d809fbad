#include <climits>
#include "device/cuda_check.hpp"
#include "pc/tile/blocked.cuh"
#include "pc/tile/registers.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Bytes of shared memory that a factorization of n rows takes: the dense tile and the order of its rows.
static size_t FactorBytes(PetscInt n)
{
  return DenseScalars(n) * sizeof(Scalar) + static_cast<size_t>(n) * sizeof(PetscInt);
}

/// Dynamic shared memory, aligned for scalars.
__device__ __forceinline__ Scalar *shared_scalars()
{
  extern __shared__ double2 tile_memory[]; // 16 bytes: for complex scalars, too
  return reinterpret_cast<Scalar *>(tile_memory);
}

/// What a thread knows of tile t: row `row` has no pivot, or a NaN; s.rows: nothing.
static __device__ __forceinline__ void Report(const TileLULayout &F, PetscInt t, const TileShape &s, PetscInt row,
                                              PetscReal pivot)
{
  if (row >= s.rows) return;
  atomicMin(F.failed, static_cast<unsigned long long>(s.row) + static_cast<unsigned long long>(row));
  F.pivot[t] = pivot; // whoever writes: the same pivot, or the same NaN
}

static constexpr int FACTOR_THREADS = 512, SOLVE_THREADS = 128; // at most

/// The dense tile in shared memory: what does not fit registers. One block per tile, of every gridDim.x-th tile of the
/// class. Threads of a group read neighbouring values of a line; `lanes` of them share a row of an update. Bitwise
/// reproducible.
template <class Word> static __global__ void __launch_bounds__(FACTOR_THREADS, 1)
    tile_factor_kernel(TileLayout A, TileLULayout F, PetscInt begin, PetscInt end, PetscInt size, int lanes,
                       PetscReal zero)
{
  const Team team{static_cast<PetscInt>(threadIdx.x), static_cast<PetscInt>(blockDim.x), lanes};
  Scalar    *dense = shared_scalars();
  PetscInt  *order = reinterpret_cast<PetscInt *>(dense + DenseScalars(size));

  for (PetscCount place = begin + static_cast<PetscCount>(blockIdx.x); place < end; place += gridDim.x) {
    const PetscInt  t = F.LU.order[place];
    const TileShape s = A.shape[t];
    const DenseTile D{s.rows, DensePitch(s.rows), dense, order};
    PetscReal       pivot;
    const PetscInt  row = FactorTile(team, A.View<Word>(t), F.LU.View<Word>(t),
                                    F.permutation ? F.permutation + s.row : nullptr, zero, D, &pivot);
    Report(F, t, s, row, pivot);
    __syncthreads(); // the shared tile is the next one's
  }
}

/// The dense tile in registers; otherwise the same. Neighbouring threads write neighbouring values of the factors.
template <class Word, int GROUPS, int ROWS, bool pivoting> static __global__ void __launch_bounds__(32 * GROUPS)
    tile_register_kernel(TileLayout A, TileLULayout F, PetscInt begin, PetscInt end, PetscReal zero)
{
  __shared__ RegisterShared<GROUPS> shared;

  for (PetscCount place = begin + static_cast<PetscCount>(blockIdx.x); place < end; place += gridDim.x) {
    const PetscInt  t = F.LU.order[place];
    const TileShape s = A.shape[t];
    PetscReal       pivot;
    const PetscInt  row = FactorInRegisters<Word, GROUPS, ROWS, pivoting>(
        A.View<Word>(t), F.LU.View<Word>(t), pivoting ? F.permutation + s.row : nullptr, zero, &shared, &pivot);
    Report(F, t, s, row, pivot);
    __syncthreads(); // the shared arrays are the next one's
  }
}

/// By panels, see blocked.cuh; what ends there without a pivot or with a NaN is done again step by step, which finds
/// the row to blame. Otherwise the same.
template <class Word, int THREADS> static __global__ void __launch_bounds__(THREADS)
    tile_blocked_kernel(TileLayout A, TileLULayout F, PetscInt begin, PetscInt end, PetscInt size, PetscReal zero)
{
  const Team               team{static_cast<PetscInt>(threadIdx.x), THREADS, 32};
  Scalar                  *dense = shared_scalars();
  PetscInt                *order = reinterpret_cast<PetscInt *>(dense + DenseScalars(size));
  __shared__ BlockedShared shared;

  for (PetscCount place = begin + static_cast<PetscCount>(blockIdx.x); place < end; place += gridDim.x) {
    const PetscInt    t = F.LU.order[place];
    const TileShape   s = A.shape[t];
    const BlockedTile B{static_cast<int>(s.rows), static_cast<int>(DensePitch(s.rows)), dense};
    PetscReal         pivot = 0;
    PetscInt          row   = s.rows;
    if (!FactorBlocked<Word, THREADS>(A.View<Word>(t), F.LU.View<Word>(t), zero, B, &shared))
      row = FactorTile(team, A.View<Word>(t), F.LU.View<Word>(t), nullptr, zero,
                       DenseTile{s.rows, DensePitch(s.rows), dense, order}, &pivot);
    Report(F, t, s, row, pivot);
    __syncthreads(); // the shared tile is the next one's
  }
}

/// A warp per tile of up to 32 ROWS rows, for the large ones: unknowns in registers, the entries of AHEAD columns
/// loaded before their turn. Bitwise reproducible.
template <class Word, int ROWS> static __global__ void __launch_bounds__(SOLVE_THREADS)
    tile_warp_solve_kernel(TileLULayout F, PetscInt begin, PetscInt end, const Scalar *b, Scalar *x)
{
  constexpr int    AHEAD = 32 / ROWS / (sizeof(Scalar) / sizeof(PetscReal));
  const PetscCount place = begin + (static_cast<PetscCount>(blockIdx.x) * SOLVE_THREADS + threadIdx.x) / 32;
  const int        lane  = threadIdx.x % 32;
  if (place >= end) return;
  const PetscInt         t = F.LU.order[place], row = F.LU.shape[t].row;
  const BitmapView<Word> LU = F.LU.View<Word>(t);
  const int              n  = static_cast<int>(LU.rows);
  Scalar                 y[ROWS];

#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const int i = lane + 32 * q;
    y[q]        = i < n ? b[row + (F.permutation ? F.permutation[row + i] : i)] : Scalar(0);
  }
  __syncwarp();                             // x may be b
  for (int sweep = 0; sweep < 2; sweep++) { // L, then U
    for (int step = 0; step < n; step += AHEAD) {
      Scalar   entry[AHEAD][ROWS], diagonal[AHEAD];
      unsigned has = 0; // of entry: what has none must not catch what is not a number
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int k = sweep ? n - 1 - step - u : step + u;
        diagonal[u] = sweep && k >= 0 ? LU.values[LU.Position(k, k)] : Scalar(1);
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          const int  i     = lane + 32 * q;
          const bool there = k >= 0 && k < n && i < n && (sweep ? i < k : i > k) && LU.HasPlace(k, i);
          entry[u][q]      = there ? LU.values[LU.Position(k, i)] : Scalar(0);
          has |= static_cast<unsigned>(there) << (u * ROWS + q);
        }
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int k = sweep ? n - 1 - step - u : step + u;
        if (k < 0 || k >= n) break;
        Scalar own = Held(y[0]);
#pragma unroll
        for (int q = 1; q < ROWS; q++) {
          const Scalar other = Held(y[q]);
          own                = k / 32 == q ? other : own;
        }
        const Scalar v = FromLane(own, k % 32) * diagonal[u];
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
          if (has >> (u * ROWS + q) & 1) y[q] = y[q] - entry[u][q] * v;
          if (sweep && lane + 32 * q == k) y[q] = v;
        }
      }
    }
  }
#pragma unroll
  for (int q = 0; q < ROWS; q++)
    if (lane + 32 * q < n) x[row + lane + 32 * q] = y[q];
}

/// One block per tile; neighbouring threads take neighbouring rows, whose entries of a column lie together (of the
/// transposed factors they do not). Bitwise reproducible.
template <class Word, bool transpose> static __global__ void __launch_bounds__(SOLVE_THREADS)
    tile_solve_kernel(TileLULayout F, PetscInt begin, PetscInt end, PetscInt size, const Scalar *b, Scalar *x)
{
  const Team team{static_cast<PetscInt>(threadIdx.x), static_cast<PetscInt>(blockDim.x), 1};
  Scalar    *y = shared_scalars(), *z = y + size;

  for (PetscCount place = begin + static_cast<PetscCount>(blockIdx.x); place < end; place += gridDim.x) {
    const PetscInt  t           = F.LU.order[place];
    const PetscInt  row         = F.LU.shape[t].row;
    const PetscInt *permutation = F.permutation ? F.permutation + row : nullptr;
    if (transpose)
      SolveTransposedTile(team, F.LU.View<Word>(t), permutation, b + row, x + row, y, z);
    else
      SolveTile(team, F.LU.View<Word>(t), permutation, b + row, x + row, y, z);
    __syncthreads(); // y and z are the next one's
  }
}

/// Shared memory that a thread block may ask for.
static PetscErrorCode SharedLimit(size_t *bytes)
{
  int device, limit;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaGetDevice(&device));
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  *bytes = static_cast<size_t>(limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileLargest_CUDA(PetscInt *largest)
{
  size_t limit;

  PetscFunctionBegin;
  PetscCall(SharedLimit(&limit));
  for (*largest = 0; FactorBytes(*largest + 1) <= limit;) ++*largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static unsigned Blocks(const TileClass &tiles)
{
  const PetscCount count = tiles.end - tiles.begin;
  return static_cast<unsigned>(count < INT_MAX ? count : INT_MAX);
}

template <class Word, int GROUPS, int ROWS> static void LaunchInRegisters(const TileLayout &A, const TileLULayout &F,
                                                                          const TileClass &c, PetscReal zero,
                                                                          cudaStream_t stream)
{
  if (F.permutation)
    tile_register_kernel<Word, GROUPS, ROWS, true><<<Blocks(c), 32 * GROUPS, 0, stream>>>(A, F, c.begin, c.end, zero);
  else
    tile_register_kernel<Word, GROUPS, ROWS, false><<<Blocks(c), 32 * GROUPS, 0, stream>>>(A, F, c.begin, c.end, zero);
}

/// In registers, tiles of up to 8 rows per group: where 8 * ROWS entries for each thread fit. False: not launched.
template <class Word> static bool TryInRegisters(const TileLayout &A, const TileLULayout &F, const TileClass &c,
                                                 PetscReal zero, cudaStream_t stream)
{
  if constexpr (sizeof(Scalar) > 8) return false; // twice the registers
  if (c.size <= 8)
    LaunchInRegisters<Word, 1, 1>(A, F, c, zero, stream);
  else if (c.size <= 16)
    LaunchInRegisters<Word, 2, 1>(A, F, c, zero, stream);
  else if (c.size <= 32)
    LaunchInRegisters<Word, 4, 1>(A, F, c, zero, stream);
  else if (c.size <= 64)
    LaunchInRegisters<Word64, 8, 2>(A, F, c, zero, stream); // longer than a word of 32 bits
  else if (c.size <= 96)
    LaunchInRegisters<Word64, 12, 3>(A, F, c, zero, stream);
  else if (c.size <= 128)
    LaunchInRegisters<Word64, 16, 4>(A, F, c, zero, stream);
  else
    return false;
  return true;
}

template <class Word, int THREADS> static PetscErrorCode LaunchBlocked(const TileLayout &A, const TileLULayout &F,
                                                                       const TileClass &c, PetscReal zero,
                                                                       cudaStream_t stream)
{
  const size_t bytes  = FactorBytes(c.size);
  const auto   kernel = tile_blocked_kernel<Word, THREADS>;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  kernel<<<Blocks(c), THREADS, bytes, stream>>>(A, F, c.begin, c.end, c.size, zero);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By panels, as far as tile and panel fit: without pivoting, from 33 rows, where that is faster (docs/performance.md).
/// *done: launched.
template <class Word> static PetscErrorCode TryBlocked(const TileLayout &A, const TileLULayout &F, const TileClass &c,
                                                       PetscReal zero, cudaStream_t stream, bool *done)
{
  size_t limit;

  PetscFunctionBegin;
  PetscCall(SharedLimit(&limit));
  *done =
      !F.permutation && c.size > 32 && c.size <= BLOCKED_ROWS && FactorBytes(c.size) + sizeof(BlockedShared) <= limit;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (c.size <= 64)
    PetscCall(LaunchBlocked<Word, 128>(A, F, c, zero, stream));
  else
    PetscCall(LaunchBlocked<Word, 256>(A, F, c, zero, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Word> static PetscErrorCode Factor(const TileLayout &A, const TileLULayout &F,
                                                   const std::vector<TileClass> &classes, PetscReal zero,
                                                   cudaStream_t stream)
{
  PetscFunctionBegin;
  for (const TileClass &c : classes) {
    bool done;
    PetscCall(TryBlocked<Word>(A, F, c, zero, stream, &done));
    if (!done && !TryInRegisters<Word>(A, F, c, zero, stream)) {
      // a warp per row, or a part of one where rows are shorter; about four rows a group
      const int    lanes   = c.size <= 8 ? 8 : c.size <= 16 ? 16 : 32;
      const int    threads = c.size <= 16 ? 64 : c.size <= 32 ? 128 : c.size <= 64 ? 256 : FACTOR_THREADS;
      const size_t bytes   = FactorBytes(c.size);
      SparseGPUCallCUDA(cudaFuncSetAttribute(tile_factor_kernel<Word>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes)));
      tile_factor_kernel<Word><<<Blocks(c), threads, bytes, stream>>>(A, F, c.begin, c.end, c.size, lanes, zero);
    }
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileFactor_CUDA(const TileLayout &A, const TileLULayout &F, const std::vector<TileClass> &classes,
                               PetscReal zero, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin; // an empty batch has no classes: no empty grid
  SparseGPUCallCUDA(cudaMemsetAsync(F.failed, 0xff, sizeof(*F.failed), s)); // NO_FAILED_ROW
  PetscCall(A.bits == 32 ? Factor<Word32>(A, F, classes, zero, s) : Factor<Word64>(A, F, classes, zero, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// False: not launched.
template <class Word>
static bool SolveByWarps(const TileLULayout &F, const TileClass &c, const Scalar *b, Scalar *x, cudaStream_t stream)
{
  const PetscCount blocks = (static_cast<PetscCount>(c.end - c.begin) * 32 + SOLVE_THREADS - 1) / SOLVE_THREADS;
  const unsigned   grid   = static_cast<unsigned>(blocks);

  if (c.size <= 64 || c.size > 128 || blocks > INT_MAX) return false;
  tile_warp_solve_kernel<Word, 4><<<grid, SOLVE_THREADS, 0, stream>>>(F, c.begin, c.end, b, x);
  return true;
}

template <class Word, bool transpose> static PetscErrorCode Solve(const TileLULayout           &F,
                                                                  const std::vector<TileClass> &classes,
                                                                  const Scalar *b, Scalar *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  for (const TileClass &c : classes) {
    if (!transpose && SolveByWarps<Word>(F, c, b, x, stream)) {
      SparseGPUCallCUDA(cudaPeekAtLastError());
      continue;
    }
    const int    threads = c.size <= 32 ? 32 : c.size <= 64 ? 64 : SOLVE_THREADS;
    const size_t bytes   = 2 * static_cast<size_t>(c.size) * sizeof(Scalar); // 48 KB allow 1536 rows, more than fit
    tile_solve_kernel<Word, transpose><<<Blocks(c), threads, bytes, stream>>>(F, c.begin, c.end, c.size, b, x);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileSolve_CUDA(const TileLULayout &F, const std::vector<TileClass> &classes, const Scalar *b, Scalar *x,
                              bool transpose, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (F.LU.bits == 32)
    PetscCall(transpose ? Solve<Word32, true>(F, classes, b, x, s) : Solve<Word32, false>(F, classes, b, x, s));
  else
    PetscCall(transpose ? Solve<Word64, true>(F, classes, b, x, s) : Solve<Word64, false>(F, classes, b, x, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
