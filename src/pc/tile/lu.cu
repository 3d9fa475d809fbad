/// LU of a batch of tiles on the GPU, a thread block per tile in shared memory; solves by warps or by blocks.
#include <climits>
#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "pc/tile/blocked.cuh"
#include "pc/tile/solve.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::tile
{

/// Bytes of shared memory that a factorization of n rows takes: the dense tile and the order of its rows.
static size_t FactorBytes(PetscInt n)
{
  return DenseScalars(n) * sizeof(Scalar) + static_cast<size_t>(n) * sizeof(PetscInt);
}

/// Reports that row `row` of tile t has no pivot, or a NaN; s.rows: no failure.
static __device__ __forceinline__ void Report(const TileLULayout &F, PetscInt t, const TileShape &s, PetscInt row,
                                              PetscReal pivot)
{
  if (row >= s.rows) return;
  atomicMin(F.failed, static_cast<unsigned long long>(s.row) + static_cast<unsigned long long>(row));
  F.pivot[t] = pivot; // all threads write the same pivot, or the same NaN
}

static constexpr int FACTOR_THREADS = 512;

/// Step by step, the dense tile in shared memory: the largest. One block per tile, of every gridDim.x-th tile of the
/// class. Threads of a warp read neighbouring values of a line and share a row of an update. Bitwise reproducible.
template <class Word> static __global__ void __launch_bounds__(FACTOR_THREADS, 1)
    tile_factor_kernel(TileLayout A, TileLULayout F, PetscInt begin, PetscInt end, PetscInt size, PetscReal zero)
{
  const Team team{static_cast<PetscInt>(threadIdx.x), FACTOR_THREADS, 32};
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

/// Rows of a tile in shared memory lie so far apart: an odd number.
constexpr int BlockedPitch(int threads, int rows, int panel)
{
  return 1 + (threads == 32 ? panel : 32 * rows);
}
/// Scalars of a tile of n rows there; an even number, for what follows them.
__host__ __device__ constexpr size_t BlockedScalars(PetscInt n, int pitch)
{
  return (static_cast<size_t>(n) * pitch + 1) / 2 * 2;
}

/// By panels, see blocked.cuh; tiles left without a pivot or with a NaN are factored again step by step, which finds
/// the failed row. Otherwise the same.
template <class Word, int THREADS, int ROWS, int PANEL, int RESIDENT, bool pivoting>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    tile_blocked_kernel(TileLayout A, TileLULayout F, PetscInt begin, PetscInt end, PetscInt size, PetscReal zero)
{
  const Team    team{static_cast<PetscInt>(threadIdx.x), THREADS, 32};
  constexpr int PITCH = BlockedPitch(THREADS, ROWS, PANEL);
  Scalar       *dense = shared_scalars();
  PetscInt     *order = reinterpret_cast<PetscInt *>(dense + BlockedScalars(size, PITCH));
  __shared__ PanelShared<PANEL> shared;

  for (PetscCount place = begin + static_cast<PetscCount>(blockIdx.x); place < end; place += gridDim.x) {
    const PetscInt           t = F.LU.order[place], n = A.shape[t].rows;
    const BlockedTile<PITCH> B{static_cast<int>(n), dense, order};
    if (!FactorBlocked<Word, THREADS, ROWS, PANEL, pivoting>(A, F, t, zero, B, &shared)) {
      const TileShape s = A.shape[t];
      PetscReal       pivot;
      const PetscInt  row =
          FactorTile(team, A.View<Word>(t), F.LU.View<Word>(t), pivoting ? F.permutation + s.row : nullptr, zero,
                     DenseTile{n, DensePitch(n), dense, order}, &pivot);
      Report(F, t, s, row, pivot);
    }
    __syncthreads(); // the shared tile is the next one's
  }
}

PetscErrorCode TileLargest_CUDA(PetscInt *largest)
{
  size_t limit;

  PetscFunctionBegin;
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(tile_factor_kernel<Word32>), &limit)); // as of Word64
  for (*largest = 0; FactorBytes(*largest + 1) <= limit;) ++*largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static unsigned Blocks(const TileClass &tiles)
{
  const PetscCount count = tiles.end - tiles.begin;
  return static_cast<unsigned>(count < INT_MAX ? count : INT_MAX);
}

/// RESIDENT: blocks of an SM, about as many as their shared memory lets in. *done: launched, as one fits.
template <class Word, int THREADS, int ROWS, int PANEL, int RESIDENT>
static PetscErrorCode LaunchBlocked(const TileLayout &A, const TileLULayout &F, const TileClass &c, PetscReal zero,
                                    cudaStream_t stream, bool *done)
{
  const size_t bytes = BlockedScalars(c.size, BlockedPitch(THREADS, ROWS, PANEL)) * sizeof(Scalar) +
                       static_cast<size_t>(c.size) * sizeof(PetscInt);
  const auto kernel = F.permutation ? tile_blocked_kernel<Word, THREADS, ROWS, PANEL, RESIDENT, true>
                                    : tile_blocked_kernel<Word, THREADS, ROWS, PANEL, RESIDENT, false>;
  size_t     limit;

  PetscFunctionBegin;
  PetscCall(SharedMemoryFor(reinterpret_cast<const void *>(kernel), &limit));
  *done = bytes <= limit;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  kernel<<<Blocks(c), THREADS, bytes, stream>>>(A, F, c.begin, c.end, c.size, zero);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By panels, as far as a panel's columns fit a warp: one panel and one warp of up to 32 rows. *done: launched.
template <class Word> static PetscErrorCode TryBlocked(const TileLayout &A, const TileLULayout &F, const TileClass &c,
                                                       PetscReal zero, cudaStream_t stream, bool *done)
{
  constexpr bool large = sizeof(Scalar) > 8;
  constexpr int  PANEL = large ? 8 : 16; // four rows of it are half the registers of a thread
  constexpr int  WIDE  = large ? 8 : 12; // so is one row of 32

  PetscFunctionBegin;
  *done = false;
  if (c.size <= 8)
    PetscCall(LaunchBlocked<Word, 32, 1, 8, 24>(A, F, c, zero, stream, done));
  else if (c.size <= 16)
    PetscCall(LaunchBlocked<Word, 32, 1, 16, 16>(A, F, c, zero, stream, done));
  else if (c.size <= 32)
    PetscCall(LaunchBlocked<Word, 32, 1, 32, WIDE>(A, F, c, zero, stream, done));
  else if (c.size <= 64) // longer than a word of 32 bits
    PetscCall(LaunchBlocked<Word64, 64, 2, PANEL, 6>(A, F, c, zero, stream, done));
  else if (c.size <= 96)
    PetscCall(LaunchBlocked<Word64, 128, 3, PANEL, 3>(A, F, c, zero, stream, done));
  else if (c.size <= 128)
    PetscCall(LaunchBlocked<Word64, 256, 4, PANEL, 1>(A, F, c, zero, stream, done));
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
    if (!done) {
      const size_t bytes = FactorBytes(c.size);
      SparseGPUCallCUDA(cudaFuncSetAttribute(tile_factor_kernel<Word>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes)));
      tile_factor_kernel<Word><<<Blocks(c), FACTOR_THREADS, bytes, stream>>>(A, F, c.begin, c.end, c.size, zero);
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

  if (c.size > 128 || blocks > INT_MAX) return false;
  const auto kernel = c.size <= 32   ? tile_warp_solve_kernel<Word, 1>
                      : c.size <= 64 ? tile_warp_solve_kernel<Word64, 2> // longer than a word of 32 bits
                      : c.size <= 96 ? tile_warp_solve_kernel<Word64, 3>
                                     : tile_warp_solve_kernel<Word64, 4>;
  kernel<<<grid, SOLVE_THREADS, 0, stream>>>(F, c.begin, c.end, b, x);
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

} // namespace sparsegpu::tile
