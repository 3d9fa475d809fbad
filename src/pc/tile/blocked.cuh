/// The factorization of a tile in shared memory by panels of PANEL columns: a thread has a row of the panel in
/// registers, then a column beside it, then 4 x 4 entries of what is left: eight loads for sixteen products. Without
/// pivoting.
#pragma once

#include "pc/tile/core.hpp"

namespace sparsegpu
{

static constexpr int PANEL = 16, BLOCKED_ROWS = 128; ///< columns of a panel; rows of a tile at most

struct BlockedShared {
  Scalar row[2][PANEL]; ///< the pivot's; buffers alternate
};

/// Entry (i, j) at i + j * pitch.
struct BlockedTile {
  int     n, pitch;
  Scalar *values; ///< [n * pitch]

  __device__ Scalar &operator()(int i, int j) const { return values[i + j * pitch]; }
};

/// A panel's columns k0 ..., `width` of them, rows from k0. False, to all threads: a step has no pivot.
static __device__ __forceinline__ bool FactorPanel(BlockedTile D, int k0, int width, PetscReal zero, BlockedShared *S)
{
  const int  t   = threadIdx.x;
  const bool has = k0 + t < D.n;
  Scalar     x[PANEL];

#pragma unroll
  for (int c = 0; c < PANEL; c++) x[c] = has && c < width ? D(k0 + t, k0 + c) : Scalar(0);
#pragma unroll
  for (int j = 0; j < PANEL; j++) {
    if (j >= width) break;
    Scalar *row = S->row[j % 2];
    if (t == j) {
#pragma unroll
      for (int c = j; c < PANEL; c++) row[c] = x[c];
    }
    __syncthreads(); // the only one of a step
    const Scalar pivot = row[j];
    if (!(Magnitude(pivot) > zero)) return false; // NaN, too; all threads see the same
    if (t > j) {
      x[j] = x[j] * Inverse(pivot);
#pragma unroll
      for (int c = j + 1; c < PANEL; c++) x[c] = x[c] - x[j] * row[c];
    }
  }
#pragma unroll
  for (int c = 0; c < PANEL; c++)
    if (has && c < width) D(k0 + t, k0 + c) = x[c];
  return true;
}

/// The columns right of the panel, its rows, times L^-1: a column a thread.
static __device__ __forceinline__ void FinishColumns(BlockedTile D, int k0, int width)
{
  for (int j = k0 + width + static_cast<int>(threadIdx.x); j < D.n; j += static_cast<int>(blockDim.x)) {
    Scalar x[PANEL];
#pragma unroll
    for (int k = 0; k < PANEL; k++) x[k] = k < width ? D(k0 + k, j) : Scalar(0);
#pragma unroll
    for (int k = 0; k < PANEL; k++) {
      if (k >= width) break;
#pragma unroll
      for (int i = k + 1; i < PANEL; i++)
        if (i < width) x[i] = x[i] - D(k0 + i, k0 + k) * x[k];
    }
#pragma unroll
    for (int k = 0; k < PANEL; k++)
      if (k < width) D(k0 + k, j) = x[k];
  }
}

/// What is left, less the panel's rows and columns: 4 x 4 entries a thread.
template <int THREADS> static __device__ __forceinline__ void SubtractPanel(BlockedTile D, int k0, int k1)
{
  constexpr int TI = 16, TJ = THREADS / TI;
  const int     ti = threadIdx.x % TI, tj = threadIdx.x / TI, last = D.n - 1;

  for (int j0 = k1 + tj; j0 < D.n; j0 += 4 * TJ)
    for (int i0 = k1 + ti; i0 < D.n; i0 += 4 * TI) {
      Scalar sum[4][4];
#pragma unroll
      for (int u = 0; u < 4; u++)
#pragma unroll
        for (int v = 0; v < 4; v++) sum[u][v] = Scalar(0);
#pragma unroll 4
      for (int k = k0; k < k1; k++) {
        Scalar l[4], w[4];
#pragma unroll
        for (int u = 0; u < 4; u++) {
          l[u] = D(min(i0 + u * TI, last), k);
          w[u] = D(k, min(j0 + u * TJ, last));
        }
#pragma unroll
        for (int u = 0; u < 4; u++)
#pragma unroll
          for (int v = 0; v < 4; v++) sum[u][v] = sum[u][v] + l[u] * w[v];
      }
#pragma unroll
      for (int v = 0; v < 4; v++)
#pragma unroll
        for (int u = 0; u < 4; u++) {
          const int i = i0 + u * TI, j = j0 + v * TJ;
          if (i < D.n && j < D.n) D(i, j) = D(i, j) - sum[u][v];
        }
    }
}

/// Factors A into LU, by all threads of the block; false, to all of them: there is a step without a pivot or a NaN, and
/// what is in LU means nothing.
template <class Word, int THREADS>
static __device__ __forceinline__ bool FactorBlocked(const BitmapView<Word> &A, const BitmapView<Word> &LU,
                                                     PetscReal zero, BlockedTile D, BlockedShared *S)
{
  constexpr int LINE = THREADS > 128 ? BLOCKED_ROWS / 32 : 2; ///< entries of a line that a lane has
  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool          nan = false;

  for (int l = warp; l < D.n; l += THREADS / 32) {
    Scalar v[LINE]; // all loads of a line before the first is waited for
#pragma unroll
    for (int q = 0; q < LINE; q++) {
      const int k = lane + 32 * q;
      v[q]        = k < D.n && A.HasPlace(l, k) ? A.values[A.Position(l, k)] : Scalar(0);
    }
#pragma unroll
    for (int q = 0; q < LINE; q++) {
      const int k = lane + 32 * q;
      if (k < D.n) (A.by_columns ? D(k, l) : D(l, k)) = v[q];
    }
  }
  __syncthreads();
  for (int k0 = 0; k0 < D.n; k0 += PANEL) {
    const int width = min(PANEL, D.n - k0);
    if (!FactorPanel(D, k0, width, zero, S)) return false;
    __syncthreads();
    FinishColumns(D, k0, width);
    __syncthreads();
    SubtractPanel<THREADS>(D, k0, k0 + width);
    __syncthreads();
  }
  for (int j = warp; j < D.n; j += THREADS / 32) {
    PetscInt at[LINE]; // all flags of a line before the first entry is stored
#pragma unroll
    for (int q = 0; q < LINE; q++) {
      const int i = lane + 32 * q;
      at[q]       = i < D.n && LU.HasPlace(j, i) ? LU.Position(j, i) : -1;
    }
#pragma unroll
    for (int q = 0; q < LINE; q++) {
      const int i = lane + 32 * q;
      if (at[q] < 0) continue;
      const Scalar v   = i == j ? Inverse(D(i, j)) : D(i, j);
      nan              = nan || IsNan(v);
      LU.values[at[q]] = v;
    }
  }
  return !__syncthreads_or(nan);
}

} // namespace sparsegpu
