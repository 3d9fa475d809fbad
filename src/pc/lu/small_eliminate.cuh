/// The elimination of a small front's pivots in shared memory: a warp takes STRIP columns in registers, without
/// barriers between pivots, then the block their effect on the other columns.
#pragma once

#include "pc/lu/small_dense.cuh"

namespace sparsegpu::lu
{

static constexpr int STRIP = 8; ///< columns; a tile of rows that may change places is several strips

/// r[q][c] is entry (k0 + lane + 32 q, k0 + c); of a half those above the diagonal are not.
template <bool half, int rows, class Number>
static __device__ __forceinline__ void LoadStrip(Dense<Number> D, int m, int k0, int width, Number (&r)[rows][STRIP])
{
#pragma unroll
  for (int q = 0; q < rows; q++)
#pragma unroll
    for (int c = 0; c < STRIP; c++) {
      const int i = k0 + static_cast<int>(threadIdx.x) % 32 + 32 * q;
      r[q][c]     = i < m && c < width && (!half || i >= k0 + c) ? D(i, k0 + c) : Number(0);
    }
}
template <bool half, int rows, class Number>
static __device__ __forceinline__ void StoreStrip(Dense<Number> D, int m, int k0, int width,
                                                  const Number (&r)[rows][STRIP])
{
#pragma unroll
  for (int q = 0; q < rows; q++)
#pragma unroll
    for (int c = 0; c < STRIP; c++) {
      const int i = k0 + static_cast<int>(threadIdx.x) % 32 + 32 * q;
      if (i < m && c < width && (!half || i >= k0 + c)) D(i, k0 + c) = r[q][c];
    }
}

/// Rows k and `from` change places; the lanes' numbers of rows do, too.
template <int rows, class Number>
static __device__ __forceinline__ void BringRow(Number (&r)[rows][STRIP], int *row, int k, int from)
{
  const int lane = static_cast<int>(threadIdx.x) % 32, source = lane == k ? from : lane == from ? k : lane;
#pragma unroll
  for (int c = 0; c < STRIP; c++) r[0][c] = shuffle(r[0][c], source);
  *row = __shfl_sync(ALL_LANES, *row, source);
}

/// Pivots k0 .. k0 + width - 1 in their own columns, by the first warp, whose lanes have at most `rows` rows each. Rows
/// before `end` change places: moved[k] is how far below pivot k0 + k the row was. Of a half, row k of U = D L^H is
/// set, to its end.
template <bool half, int rows, class Number>
static __device__ void EliminateStrip(const DeviceFront<Number> &F, Dense<Number> D, int k0, int width, int end,
                                      Number *met, int *order, int *moved, const LuPivoting &P, PivotTally *tally)
{
  const int m = static_cast<int>(F.rows), lane = static_cast<int>(threadIdx.x) % 32;
  Number    r[rows][STRIP], own_met(0), own_used(0);
  int       row = !half && k0 + lane < end ? order[k0 + lane] : 0, far = 0;

  LoadStrip<half>(D, m, k0, width, r);
#pragma unroll
  for (int k = 0; k < STRIP; k++) {
    if (k >= width) break;
    const TakenPivot<Number> pivot = TakePivot<half>(F, r[0][k], lane, k, end - k0, P);
    if (pivot.row != k) BringRow(r, &row, k, pivot.row); // the same in all lanes
    if (lane == k) {
      own_met  = pivot.met;
      own_used = pivot.used;
      far      = pivot.row - k;
    }
#pragma unroll
    for (int c = k + 1; c < STRIP; c++) {
      const Number u = half ? F.Mirrored(shuffle(r[0][k], c)) : shuffle(r[0][c], k);
#pragma unroll
      for (int q = 0; q < rows; q++)
        if (lane + 32 * q > k) r[q][c] = r[q][c] - r[q][k] * pivot.inverse * u;
    }
#pragma unroll
    for (int q = 0; q < rows; q++) {
      const int i = k0 + lane + 32 * q;
      if (half && i > k0 + k && i < m) D(k0 + k, i) = F.Mirrored(r[q][k]);
      if (i > k0 + k) r[q][k] = r[q][k] * pivot.inverse;
      if (i == k0 + k) r[q][k] = pivot.used;
    }
  }
  StoreStrip<half>(D, m, k0, width, r);
  if (lane < width) tally->Count(own_met, own_used, P, F.first + k0 + lane);
  if (half && lane < width) met[F.first + k0 + lane] = own_met;
  if (half) return;
  if (k0 + lane < end) order[k0 + lane] = row;
  if (lane < STRIP) moved[lane] = far;
}

/// The other columns, a thread each: their rows change places as the strip's have, and the strip's rows of later
/// columns are taken times L^-1.
template <class Number> static __device__ void SolveBesideStrip(const DeviceFront<Number> &F, Dense<Number> D, int k0,
                                                                int width, const int *moved)
{
  const int m = static_cast<int>(F.rows);

  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    if (j >= k0 && j < k0 + width) continue;
    for (int k = 0; k < width; k++) {
      if (moved[k] == 0) continue;
      const Number v          = D(k0 + k, j);
      D(k0 + k, j)            = D(k0 + k + moved[k], j);
      D(k0 + k + moved[k], j) = v;
    }
    if (j < k0) continue;
    Number u[STRIP];
#pragma unroll
    for (int k = 0; k < STRIP; k++) u[k] = k < width ? D(k0 + k, j) : Number(0);
#pragma unroll
    for (int t = 0; t < STRIP; t++)
#pragma unroll
      for (int k = t + 1; k < STRIP; k++)
        if (k < width) u[k] = u[k] - D(k0 + k, k0 + t) * u[t];
#pragma unroll
    for (int k = 1; k < STRIP; k++)
      if (k < width) D(k0 + k, j) = u[k];
  }
}

/// What a strip changes in later columns of pivots, and, unless of a half, in later rows of pivots; a row a lane.
template <bool half, class Number>
static __device__ void UpdateByStrip(const DeviceFront<Number> &F, Dense<Number> D, int k0)
{
  const int p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows), next = k0 + STRIP;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int i0 = next; i0 < m; i0 += 32) {
    const int i = i0 + lane, end = !half && i0 < p ? m : p;
    Number    l[STRIP];
#pragma unroll
    for (int t = 0; t < STRIP; t++) l[t] = i < m ? D(i, k0 + t) : Number(0);
#pragma unroll 4
    for (int j = next + warp; j < end; j += warps) {
      if (i >= m || (half ? i < j : i >= p && j >= p)) continue;
      Number sum[2] = {D(i, j), Number(0)}; // two sums: an addition waits for the one before
#pragma unroll
      for (int t = 0; t < STRIP; t++) sum[t % 2] = sum[t % 2] - l[t] * D(k0 + t, j);
      D(i, j) = sum[0] + sum[1];
    }
  }
}

/// Pivots by pivots; rows change places within a tile of LU_TILE. order [pivots] is shared. All but the update of the
/// others with each other. Of a half U = D L^T becomes the upper triangle, without having been computed.
template <bool half, int rows, class Number> static __device__ void Eliminate(const DeviceFront<Number> &F,
                                                                              Dense<Number> D, Number *met, int *order,
                                                                              const LuPivoting &P, PivotTally *tally)
{
  __shared__ int moved[STRIP];
  constexpr int  TILE = static_cast<int>(LU_TILE);
  const int      p    = static_cast<int>(F.pivots);
  static_assert(TILE % STRIP == 0, "a strip lies in one tile");

  for (int k = threadIdx.x; k < p; k += blockDim.x) order[k] = k;
  __syncthreads();
  for (int k0 = 0; k0 < p; k0 += STRIP) {
    const int width = min(STRIP, p - k0), end = min((k0 / TILE + 1) * TILE, p);
    if (threadIdx.x < 32) EliminateStrip<half, rows>(F, D, k0, width, end, met, order, moved, P, tally);
    __syncthreads();
    if (!half) {
      SolveBesideStrip(F, D, k0, width, moved);
      __syncthreads();
    }
    if (k0 + STRIP >= p) break;
    UpdateByStrip<half>(F, D, k0);
    __syncthreads();
  }
}

} // namespace sparsegpu::lu
