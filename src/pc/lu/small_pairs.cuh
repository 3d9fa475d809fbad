/// The elimination of a small front's pivots where they are of order 1 and 2: a tile at a time, by one warp; then the
/// rows below and the columns before it, and its effect on the rest.
#pragma once

#include "pc/lu/paired_tile.cuh"
#include "pc/lu/small_eliminate.cuh"

namespace sparsegpu::lu
{

namespace
{
/// What the first warp leaves of a tile to the others.
template <class Number> struct TilePairs {
  int    from[LU_TILE], code[LU_TILE]; ///< which of the tile's rows each pivot was; PairCode
  Number inverse[LU_TILE];
};
} // namespace

/// Row i below a tile of pivots k0 .. k0 + size - 1, by a thread: its columns are brought to the pivots, and it becomes
/// one of L; row k of U is set.
template <class Number> static __device__ void SolveBelowPairs(const DeviceFront<Number> &F, Dense<Number> D, int k0,
                                                               int size, int i, const TilePairs<Number> &T)
{
  for (int k = 0; k < size; k++) { // U's place is free until then
    const int    code = T.code[k];
    const Number own  = D(i, k0 + T.from[k]);
    D(k0 + k, i)      = code ? TurnedColumn(code, own, D(i, k0 + T.from[code > 0 ? k + 1 : k - 1])) : own;
  }
  for (int k = 0; k < size; k++) { // a row of A G times U^-1, kept as a column meanwhile
    Number sum[2] = {D(k0 + k, i), Number(0)};
    for (int t = 0; t < k; t++) sum[t % 2] = sum[t % 2] - D(i, k0 + t) * D(k0 + t, k0 + k);
    const Number u = sum[0] + sum[1];
    D(k0 + k, i)   = F.Mirrored(u);
    D(i, k0 + k)   = u * T.inverse[k];
  }
}

/// Column j before the tile, by a warp: its rows in the tile are brought to the pivots.
template <class Number>
static __device__ void TurnBefore(Dense<Number> D, int k0, int size, int j, const TilePairs<Number> &T)
{
  const int    lane = static_cast<int>(threadIdx.x) % 32;
  const Number v    = lane < size ? D(k0 + T.from[lane], j) : Number(0);
  const Number own  = TurnLanes<false>(lane < size ? T.code[lane] : 0, v);
  __syncwarp();
  if (lane < size) D(k0 + lane, j) = own;
}

/// As Eliminate() of a half.
template <class Number> static __device__ void EliminatePairs(const DeviceFront<Number> &F, Dense<Number> D,
                                                              Number *met, int *order, PairCode *pair,
                                                              const LuPivoting &P, PivotTally *tally)
{
  __shared__ TilePairs<Number> T;
  constexpr int                TILE = static_cast<int>(LU_TILE);
  const int                    p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows);
  const int                    warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;

  for (int k0 = 0; k0 < p; k0 += TILE) {
    const int size = min(TILE, p - k0), next = k0 + size;
    if (warp == 0) {
      int                row, code;
      Number             own_met(0);
      PairedTile<Number> tile(F, &D(k0, k0), D.pitch, size);
      tile.Mirror();
      tile.Factor(P, F.first + k0, tally, &row, &code, &own_met);
      if (lane < size) {
        T.from[lane]              = row;
        T.code[lane]              = code;
        T.inverse[lane]           = Inverse(D(k0 + lane, k0 + lane));
        met[F.first + k0 + lane]  = own_met;
        pair[F.first + k0 + lane] = static_cast<PairCode>(code);
        order[k0 + lane]          = k0 + row;
      }
    }
    __syncthreads();
    for (int j = warp; j < k0; j += warps) TurnBefore(D, k0, size, j, T);
    for (int i = next + threadIdx.x; i < m; i += blockDim.x) SolveBelowPairs(F, D, k0, size, i, T);
    __syncthreads();
    if (next >= p) break;
    for (int strip = k0; strip < next; strip += STRIP) {
      UpdateByStrip<true>(F, D, strip, next, p, warp, warps);
      __syncwarp(); // a row is another lane's in the next strip
    }
    __syncthreads();
  }
}

} // namespace sparsegpu::lu
