/// Solves with the factors of tiles.
#pragma once

#include "pc/tile/panel.cuh"

namespace sparsegpu
{

static constexpr int SOLVE_THREADS = 128; // at most

/// Dynamic shared memory, aligned for scalars.
__device__ __forceinline__ Scalar *shared_scalars()
{
  extern __shared__ double2 tile_memory[]; // 16 bytes: for complex scalars, too
  return reinterpret_cast<Scalar *>(tile_memory);
}

/// v, so that the compiler cannot tell where it comes from: it would turn a choice between registers into a choice
/// between addresses, and then keep them in memory.
static __device__ __forceinline__ PetscReal Held(PetscReal v)
{
#if defined(PETSC_USE_REAL_SINGLE)
  asm("" : "+f"(v));
#else
  asm("" : "+d"(v));
#endif
  return v;
}
#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Scalar Held(const Scalar &v)
{
  return Scalar(Held(v.re), Held(v.im));
}
#endif

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

} // namespace sparsegpu
