/// Solves with the factors of tiles.
#pragma once

#include "pc/tile/line.cuh"
#include "pc/tile/panel.cuh"

namespace sparsegpu::tile
{

static constexpr int SOLVE_THREADS = 128; // at most

/// Dynamic shared memory, aligned for scalars.
__device__ __forceinline__ Scalar *shared_scalars()
{
  extern __shared__ double2 tile_memory[]; // 16 bytes: for complex scalars, too
  return reinterpret_cast<Scalar *>(tile_memory);
}

/// Columns whose entries a lane loads before the first is needed: 32 entries, so many registers or twice as many.
template <int ROWS> constexpr int Ahead()
{
  return (ROWS == 1 ? 32 : ROWS == 2 ? 16 : 8) / static_cast<int>(sizeof(Scalar) / sizeof(PetscReal));
}

/// The steps of a solve by columns 32 G .. 32 G + 31, of L or, backwards, of U. mine: of column 32 G + lane.
template <int G, bool upper, int ROWS>
static __device__ __forceinline__ void SolveColumns(const Scalar *values, const TileLine<ROWS> &mine, Scalar (&y)[ROWS])
{
  constexpr int AHEAD = Ahead<ROWS>();
  const int     lane  = threadIdx.x % 32;

#pragma unroll 1
  for (int step = 0; step < 32; step += AHEAD) {
    Scalar   entry[AHEAD][ROWS];
    unsigned has = 0; // of entry: what has none must not catch what is not a number
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const int c = upper ? 31 - step - u : step + u;
      mine.Of(c).Visit([&](int q, bool there, int e) {
        if (upper ? q > G : q < G) return;
        there       = there && (q != G || (upper ? lane <= c : lane > c));
        entry[u][q] = there ? values[e] : Scalar(0);
        has |= static_cast<unsigned>(there) << (u * ROWS + q);
      });
    }
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const int    c = upper ? 31 - step - u : step + u;
      const Scalar v = FromLane(upper ? y[G] * entry[u][G] : y[G], c); // U's diagonal is inverted
#pragma unroll
      for (int q = upper ? 0 : G; q < (upper ? G + 1 : ROWS); q++)
        if (has >> (u * ROWS + q) & 1) y[q] = upper && q == G && lane == c ? v : y[q] - entry[u][q] * v;
    }
  }
}
template <int G, int ROWS> static __device__ __forceinline__ void SolveFrom(const Scalar *values, int n,
                                                                            const TileLine<ROWS> (&mine)[ROWS],
                                                                            Scalar (&y)[ROWS])
{
  if (32 * G >= n) return;
  SolveColumns<G, false>(values, mine[G], y);
  if constexpr (G + 1 < ROWS) SolveFrom<G + 1>(values, n, mine, y);
  SolveColumns<G, true>(values, mine[G], y);
}

/// A warp per tile of up to 32 ROWS rows, unknowns in registers: a step is a shuffle and a product. Neighbouring lanes
/// read neighbouring entries. Bitwise reproducible.
template <class Word, int ROWS> static __global__ void __launch_bounds__(SOLVE_THREADS)
    tile_warp_solve_kernel(TileLULayout F, PetscInt begin, PetscInt end, const Scalar *b, Scalar *x)
{
  const PetscCount place = begin + (static_cast<PetscCount>(blockIdx.x) * SOLVE_THREADS + threadIdx.x) / 32;
  const int        lane  = threadIdx.x % 32;
  if (place >= end) return;
  const PetscInt         t = F.LU.order[place], row = F.LU.shape[t].row;
  const BitmapView<Word> LU = F.LU.View<Word>(t);
  const int              n  = static_cast<int>(LU.rows);
  TileLine<ROWS>         mine[ROWS];
  Scalar                 y[ROWS];

#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const int i = lane + 32 * q;
    mine[q].Read(LU, i);
    y[q] = i < n ? b[row + (F.permutation ? F.permutation[row + i] : i)] : Scalar(0);
  }
  __syncwarp(); // x may be b
  SolveFrom<0>(LU.values, n, mine, y);
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

} // namespace sparsegpu::tile
