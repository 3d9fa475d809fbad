/// Panels beside a factored tile of pivots: triangular solves with the tile, which lies in shared memory.
#pragma once

#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

/// Rows, or columns, of a panel that a block takes: with the tile they fit 48 KB.
template <class Number> static constexpr int PANEL = sizeof(Number) > 8 ? 32 : 64;

namespace
{
/// The factored tile in shared memory, a unit matrix where it ends early; the order of its rows.
template <class Number> struct SharedTile {
  Number entry[LU_TILE][LU_TILE + 1]; ///< [column][row]
  Number inverse[LU_TILE];            ///< of the pivots
  int    row[LU_TILE];
  int    exchanged;

  /// All threads of the block must call. tile: its first entry, columns `ld` apart.
  __device__ void Load(const DeviceFront<Number> &F, const Number *tile, PetscCount ld, PetscInt k0, int size,
                       const PetscInt *local_row)
  {
    if (threadIdx.x == 0) exchanged = 0;
    for (int e = threadIdx.x; e < LU_TILE * LU_TILE; e += blockDim.x) {
      const int i = e % LU_TILE, j = e / LU_TILE;
      entry[j][i] = i < size && j < size ? tile[i + j * ld] : Number(i == j);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < LU_TILE; k += blockDim.x) {
      inverse[k] = Inverse(entry[k][k]);
      row[k]     = k < size ? static_cast<int>(local_row[F.first + k0 + k] - k0) : k;
      if (row[k] != k) exchanged = 1;
    }
    __syncthreads();
  }
};
} // namespace

/// Rows of L below a tile: a row a thread, entries m apart, times U^-1. Neighbouring threads have neighbouring rows.
template <class Number> static __device__ void SolveRow(Number *at, PetscCount m, int size, const SharedTile<Number> &T)
{
  Number x[LU_TILE];

#pragma unroll
  for (int k = 0; k < LU_TILE; k++) x[k] = k < size ? at[k * m] : Number(0);
#pragma unroll
  for (int k = 0; k < LU_TILE; k++) {
    x[k] = x[k] * T.inverse[k];
#pragma unroll
    for (int j = k + 1; j < LU_TILE; j++) x[j] = x[j] - x[k] * T.entry[j][k];
  }
#pragma unroll
  for (int k = 0; k < LU_TILE; k++)
    if (k < size) at[k * m] = x[k];
}

/// Columns beside a tile, PANEL of them from `begin`: their rows change places as the tile's have, and, if `solve`, are
/// taken times L^-1, a column a thread. Column j is at at(j).
template <class Place, class Number> static __device__ void SolveColumns(PetscCount begin, PetscCount end, int size,
                                                                         bool solve, const SharedTile<Number>     &T,
                                                                         Number (*stage)[PANEL<Number> + 1], Place at)
{
  const int count = static_cast<int>(end - begin < PANEL<Number> ? end - begin : PANEL<Number>);

  for (int e = threadIdx.x; e < LU_TILE * PANEL<Number>; e += blockDim.x) {
    const int i = e % LU_TILE, j = e / LU_TILE;
    stage[i][j] = i < size && j < count ? at(begin + j)[T.row[i]] : Number(0);
  }
  __syncthreads();
  if (solve) {
    Number x[LU_TILE];
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) x[k] = stage[k][threadIdx.x];
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) {
#pragma unroll
      for (int i = k + 1; i < LU_TILE; i++) x[i] = x[i] - T.entry[k][i] * x[k];
    }
#pragma unroll
    for (int k = 0; k < LU_TILE; k++) stage[k][threadIdx.x] = x[k];
    __syncthreads();
  }
  for (int e = threadIdx.x; e < LU_TILE * PANEL<Number>; e += blockDim.x) {
    const int i = e % LU_TILE, j = e / LU_TILE;
    if (i < size && j < count) at(begin + j)[i] = stage[i][j];
  }
}

} // namespace sparsegpu::lu
