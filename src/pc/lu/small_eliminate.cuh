/// The elimination of a small front's pivots in shared memory: a warp takes STRIP columns of 32 rows in registers,
/// without barriers between pivots, then the block the rows below and the columns beside them, and their effect on the
/// rest.
#pragma once

#include "pc/lu/small_dense.cuh"

namespace sparsegpu::lu
{

static constexpr int STRIP = 8; ///< columns; a tile of rows that may change places is several strips

/// Rows k and `from` change places; the lanes' numbers of rows do, too.
template <class Number> static __device__ __forceinline__ void BringRow(Number (&r)[STRIP], int *row, int k, int from)
{
  const int lane = static_cast<int>(threadIdx.x) % 32, source = lane == k ? from : lane == from ? k : lane;
#pragma unroll
  for (int c = 0; c < STRIP; c++) r[c] = shuffle(r[c], source);
  *row = __shfl_sync(ALL_LANES, *row, source);
}

namespace
{
/// What the first warp leaves of a strip to the others: how far below pivot k0 + k its row was, and its inverse.
template <class Number> struct StripPivots {
  int    moved[STRIP];
  Number inverse[STRIP];
};
} // namespace

/// Pivots k0 .. k0 + width - 1 in their own columns, rows k0 .. k0 + 31, by the first warp: a row a lane. Rows before
/// `end` change places. Of a half, row k of U = D L^H is set, to column k0 + 31.
template <bool half, class Number> static __device__ void EliminateStrip(const DeviceFront<Number> &F, Dense<Number> D,
                                                                         int k0, int width, int end, Number *met,
                                                                         int *order, StripPivots<Number> *pivots,
                                                                         const LuPivoting &P, PivotTally *tally)
{
  const int m = static_cast<int>(F.rows), lane = static_cast<int>(threadIdx.x) % 32, i = k0 + lane;
  Number    r[STRIP], own_met(0), own_used(0), own_inverse(0);
  int       row = !half && i < end ? order[i] : 0, far = 0;

#pragma unroll
  for (int c = 0; c < STRIP; c++) r[c] = i < m && c < width && (!half || lane >= c) ? D(i, k0 + c) : Number(0);
#pragma unroll
  for (int k = 0; k < STRIP; k++) {
    if (k >= width) break;
    const TakenPivot<Number> pivot = TakePivot<half>(F, r[k], lane, k, end - k0, P);
    if (pivot.row != k) BringRow(r, &row, k, pivot.row); // the same in all lanes
    if (lane == k) {
      own_met     = pivot.met;
      own_used    = pivot.used;
      own_inverse = pivot.inverse;
      far         = pivot.row - k;
    }
#pragma unroll
    for (int c = k + 1; c < STRIP; c++) {
      const Number u = half ? F.Mirrored(shuffle(r[k], c)) : shuffle(r[c], k);
      if (lane > k) r[c] = r[c] - r[k] * pivot.inverse * u;
    }
    if (half && lane > k && i < m) D(k0 + k, i) = F.Mirrored(r[k]);
    if (lane > k) r[k] = r[k] * pivot.inverse;
    if (lane == k) r[k] = pivot.used;
  }
#pragma unroll
  for (int c = 0; c < STRIP; c++)
    if (i < m && c < width && (!half || lane >= c)) D(i, k0 + c) = r[c];
  if (lane < width) tally->Count(own_met, own_used, P, F.first + i);
  if (half && lane < width) met[F.first + i] = own_met;
  if (lane < STRIP) pivots->inverse[lane] = own_inverse;
  if (half) return;
  if (i < end) order[i] = row;
  if (lane < STRIP) pivots->moved[lane] = far;
}

/// Column j beside a strip, by a thread: its rows change places as the strip's have, and the strip's rows of a later
/// column are taken times L^-1.
template <class Number>
static __device__ void SolveBeside(Dense<Number> D, int k0, int width, int j, const StripPivots<Number> &pivots)
{
  for (int k = 0; k < width; k++) {
    const int moved = pivots.moved[k];
    if (moved == 0) continue;
    const Number v       = D(k0 + k, j);
    D(k0 + k, j)         = D(k0 + k + moved, j);
    D(k0 + k + moved, j) = v;
  }
  if (j < k0) return;
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

/// Row i below those of EliminateStrip(), by a thread: what that does with its own.
template <bool half, class Number> static __device__ void SolveBelow(const DeviceFront<Number> &F, Dense<Number> D,
                                                                     int k0, int width, int i,
                                                                     const StripPivots<Number> &pivots)
{
  Number r[STRIP];
#pragma unroll
  for (int c = 0; c < STRIP; c++) r[c] = c < width ? D(i, k0 + c) : Number(0);
#pragma unroll
  for (int k = 0; k < STRIP; k++) {
    if (k >= width) break;
    if (half) D(k0 + k, i) = F.Mirrored(r[k]);
    r[k] = r[k] * pivots.inverse[k];
#pragma unroll
    for (int c = k + 1; c < STRIP; c++)
      if (c < width) r[c] = r[c] - r[k] * D(k0 + k, k0 + c);
    D(i, k0 + k) = r[k];
  }
}

/// What lies beside and below a strip, by all threads.
template <bool half, class Number> static __device__ void SolveAround(const DeviceFront<Number> &F, Dense<Number> D,
                                                                      int k0, int width,
                                                                      const StripPivots<Number> &pivots)
{
  const int m = static_cast<int>(F.rows), beside = half ? 0 : m - width, below = max(m - k0 - 32, 0);

  for (int n = threadIdx.x; n < beside + below; n += blockDim.x)
    if (n < beside)
      SolveBeside(D, k0, width, n < k0 ? n : n + width, pivots);
    else
      SolveBelow<half>(F, D, k0, width, k0 + 32 + n - beside, pivots);
}

/// What a strip changes in columns begin .. end - 1, beyond it, from its own end down, but for the others' rows in the
/// others' columns; by warps `warp` modulo `warps`. Two rows a lane, for which a column's entries are loaded once.
template <bool half, class Number> static __device__ void UpdateByStrip(const DeviceFront<Number> &F, Dense<Number> D,
                                                                        int k0, int begin, int end, int warp, int warps)
{
  const int p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows), lane = threadIdx.x % 32;

  for (int i0 = k0 + STRIP; i0 < m; i0 += 64) {
    const int last = i0 < p ? end : min(end, p);
    Number    l[2][STRIP];
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
      for (int t = 0; t < STRIP; t++) l[q][t] = i0 + 32 * q + lane < m ? D(i0 + 32 * q + lane, k0 + t) : Number(0);
#pragma unroll 2
    for (int j = begin + warp; j < last; j += warps) {
      Number u[STRIP];
#pragma unroll
      for (int t = 0; t < STRIP; t++) u[t] = D(k0 + t, j);
#pragma unroll
      for (int q = 0; q < 2; q++) {
        const int i = i0 + 32 * q + lane;
        if (i >= m || (half ? i < j : i >= p && j >= p)) continue;
        Number sum[2] = {D(i, j), Number(0)}; // two sums: an addition waits for the one before
#pragma unroll
        for (int t = 0; t < STRIP; t++) sum[t % 2] = sum[t % 2] - l[q][t] * u[t];
        D(i, j) = sum[0] + sum[1];
      }
    }
  }
}

/// Pivots by pivots; rows change places within a tile of LU_TILE. order [pivots] is shared. All but the update of the
/// others with each other. Of a half U = D L^T becomes the upper triangle, without having been computed. The next
/// strip's columns are updated first: the first warp eliminates those while the other warps update the rest.
template <bool half, class Number> static __device__ void Eliminate(const DeviceFront<Number> &F, Dense<Number> D,
                                                                    Number *met, int *order, const LuPivoting &P,
                                                                    PivotTally *tally)
{
  __shared__ StripPivots<Number> pivots;
  constexpr int                  TILE = static_cast<int>(LU_TILE);
  const int                      p = static_cast<int>(F.pivots), columns = half ? p : static_cast<int>(F.rows);
  const int                      warp = threadIdx.x / 32, warps = blockDim.x / 32;
  static_assert(TILE % STRIP == 0 && TILE == 32, "a strip lies in one tile, whose rows a warp has");

  for (int k = threadIdx.x; k < p; k += blockDim.x) order[k] = k;
  __syncthreads();
  for (int k0 = 0; k0 < p; k0 += STRIP) {
    const int width = min(STRIP, p - k0), next = k0 + STRIP, end = min((k0 / TILE + 1) * TILE, p);
    if (warp == 0)
      EliminateStrip<half>(F, D, k0, width, end, met, order, &pivots, P, tally);
    else if (k0 > 0)
      UpdateByStrip<half>(F, D, k0 - STRIP, k0 + width, columns, warp - 1, warps - 1);
    __syncthreads();
    SolveAround<half>(F, D, k0, width, pivots);
    __syncthreads();
    if (next >= p) break;
    UpdateByStrip<half>(F, D, k0, next, min(next + STRIP, p), warp, warps);
    __syncthreads();
  }
}

} // namespace sparsegpu::lu
