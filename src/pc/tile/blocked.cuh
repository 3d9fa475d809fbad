/// The factorization of a tile in shared memory by panels. Warp 0 factors a panel (panel.cuh) while the others subtract
/// the panel before from what lies right of it; then a thread a column brings the other columns' rows to their places
/// and finishes those of U; then all subtract the panel from the next one's columns. Three barriers a panel. Of a tile
/// of one panel nothing but the panel is left.
#pragma once

#include <cuda_pipeline_primitives.h>
#include "pc/tile/line.cuh"
#include "pc/tile/panel.cuh"

namespace sparsegpu::tile
{

/// Every place of D; copies are asynchronous: all under way before the first is waited for.
template <int THREADS, int WORDS, int PITCH, class Word>
static __device__ __forceinline__ void ScatterBlocked(const BitmapView<Word> &A, const TileLine<WORDS> &mine,
                                                      const BlockedTile<PITCH> &D)
{
  const int warp = threadIdx.x / 32;
#pragma unroll 4
  for (int r = 0; warp + THREADS / 32 * r < D.n; r++) {
    const int l = warp + THREADS / 32 * r;
    mine.Of(r).Visit([&](int q, bool has, int e) {
      const int k  = threadIdx.x % 32 + 32 * q;
      Scalar   *to = A.by_columns ? &D(k, l) : &D(l, k);
      if (has)
        __pipeline_memcpy_async(to, A.values + e, sizeof(Scalar));
      else if (k < D.n)
        *to = Scalar(0);
    });
  }
  for (int i = threadIdx.x; i < D.n; i += THREADS) D.order[i] = i;
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// D to the entries of LU. True: this thread met a NaN.
template <int THREADS, int WORDS, int PITCH, class Word>
static __device__ __forceinline__ bool GatherBlocked(const BitmapView<Word> &LU, const TileLine<WORDS> &mine,
                                                     const BlockedTile<PITCH> &D)
{
  const int warp = threadIdx.x / 32;
  bool      nan  = false;
#pragma unroll 4
  for (int r = 0; warp + THREADS / 32 * r < D.n; r++)
    mine.Of(r).Visit([&](int q, bool has, int e) {
      if (!has) return;
      const Scalar v = D(threadIdx.x % 32 + 32 * q, warp + THREADS / 32 * r);
      nan            = nan || IsNan(v);
      LU.values[e]   = v;
    });
  return nan;
}

/// A column a thread: the panel's exchanges of rows, and right of it the product with L^-1.
template <int PANEL, bool pivoting, int PITCH>
static __device__ __forceinline__ void FinishColumns(const BlockedTile<PITCH> &D, int k0, const PanelShared<PANEL> *S)
{
  const int  width = min(PANEL, D.n - k0), j = threadIdx.x;
  const bool right = j >= k0 + width;

  if (j >= D.n || (!right && (!pivoting || j >= k0))) return;
  Scalar *column = &D(k0, j);
  Scalar  x[PANEL];
#pragma unroll
  for (int i = 0; i < PANEL; i++) x[i] = i < width ? column[pivoting ? S->from[i] : i] : Scalar(0);
  if (pivoting) {
    Scalar before[PANEL];
#pragma unroll
    for (int i = 0; i < PANEL; i++) before[i] = i < width ? column[i] : Scalar(0);
#pragma unroll
    for (int i = 0; i < PANEL; i++)
      if (i < width && S->to[i] >= width) column[S->to[i]] = before[i];
  }
  if (right) { // the panel is a whole one
#pragma unroll
    for (int k = 0; k < PANEL; k++)
#pragma unroll
      for (int i = k + 1; i < PANEL; i++) x[i] = x[i] - D(k0 + i, k0 + k) * x[k];
  }
#pragma unroll
  for (int i = 0; i < PANEL; i++)
    if (i < width) column[i] = x[i];
}

/// Rows below the panel of columns begin .. end - 1, less the product of the panel's columns and rows: of a warp's
/// 8 U x 4 V entries a lane has U x V. By warps `warp`, `warp` + `warps`, ... of the blocks.
template <int PANEL, int U, int V, int PITCH>
static __device__ __forceinline__ void SubtractPanel(const BlockedTile<PITCH> &D, int k0, int begin, int end, int warp,
                                                     int warps)
{
  const int ti = threadIdx.x % 8, tj = threadIdx.x % 32 / 8, first = k0 + PANEL;
  const int high = (D.n - first + 8 * U - 1) / (8 * U), wide = (end - begin + 4 * V - 1) / (4 * V);

  for (int block = warp; block < high * wide; block += warps) {
    const int     i0 = first + block % high * (8 * U) + ti, j0 = begin + block / high * (4 * V) + tj;
    const Scalar *left = &D(i0, k0), *above[V]; // rows below the tile are read, too: within the array, as k is not last
    Scalar        sum[U][V];
#pragma unroll
    for (int v = 0; v < V; v++) above[v] = &D(k0, min(j0 + 4 * v, end - 1));
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int v = 0; v < V; v++) sum[u][v] = Scalar(0);
#pragma unroll 4
    for (int k = 0; k < PANEL; k++) {
      Scalar l[U], w[V];
#pragma unroll
      for (int u = 0; u < U; u++) l[u] = left[8 * u + k * PITCH];
#pragma unroll
      for (int v = 0; v < V; v++) w[v] = above[v][k];
#pragma unroll
      for (int u = 0; u < U; u++)
#pragma unroll
        for (int v = 0; v < V; v++) sum[u][v] = sum[u][v] + l[u] * w[v];
    }
#pragma unroll
    for (int v = 0; v < V; v++)
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int i = i0 + 8 * u, j = j0 + 4 * v;
        if (i < D.n && j < end) D(i, j) = D(i, j) - sum[u][v];
      }
  }
}

/// D = L U, U's diagonal inverted, by all threads of the block, as many as rows at least. False, to all of them: there
/// is a step without a plain pivot, and D is undefined.
template <int THREADS, int ROWS, int PANEL, bool pivoting, int PITCH>
static __device__ __forceinline__ bool EliminateBlocked(const BlockedTile<PITCH> &D, PetscReal zero,
                                                        PanelShared<PANEL> *S)
{
  constexpr int WARPS = THREADS / 32;
  const int     warp  = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0); // one value, to the compiler
  static_assert(THREADS >= 32 * ROWS, "FinishColumns() takes a thread a column");

  for (int k0 = 0; k0 < D.n; k0 += PANEL) {
    if (warp == 0) FactorPanel<ROWS, PANEL, pivoting>(D, k0, zero, S);
    if constexpr (WARPS > 1)
      if (warp > 0 && k0 > 0) SubtractPanel<PANEL, 4, 4>(D, k0 - PANEL, k0 + PANEL, D.n, warp - 1, WARPS - 1);
    __syncthreads();
    if (S->failed) return false;
    if constexpr (WARPS > 1) {
      FinishColumns<PANEL, pivoting>(D, k0, S);
      __syncthreads();
      if (k0 + PANEL < D.n) SubtractPanel<PANEL, 4, 2>(D, k0, k0 + PANEL, min(k0 + 2 * PANEL, D.n), warp, WARPS);
      __syncthreads();
    }
  }
  return true;
}

/// Factors tile t of A into that of F; false, to all threads: the result is undefined, see EliminateBlocked(), or
/// holds a NaN. Views are made again for each part: no register holds one through the elimination.
template <class Word, int THREADS, int ROWS, int PANEL, bool pivoting, int PITCH>
static __device__ __forceinline__ bool FactorBlocked(const TileLayout &A, const TileLULayout &F, PetscInt t,
                                                     PetscReal zero, const BlockedTile<PITCH> &D, PanelShared<PANEL> *S)
{
  const int      line = threadIdx.x / 32 + threadIdx.x % 32 * (THREADS / 32);
  TileLine<ROWS> of_a, of_lu; // the latter long before it is needed
  of_a.Read(A.View<Word>(t), line);
  of_lu.Read(F.LU.View<Word>(t), line);
  ScatterBlocked<THREADS>(A.View<Word>(t), of_a, D);
  __syncthreads();
  if (!EliminateBlocked<THREADS, ROWS, PANEL, pivoting>(D, zero, S)) return false;
  const bool nan = GatherBlocked<THREADS>(F.LU.View<Word>(t), of_lu, D);
  for (int i = threadIdx.x; i < D.n && pivoting; i += THREADS) F.permutation[F.LU.shape[t].row + i] = D.order[i];
  return !__syncthreads_or(nan);
}

} // namespace sparsegpu::tile
