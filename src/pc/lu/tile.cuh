/// A tile of pivots of a large front, by a thread block.
#pragma once

#include "pc/lu/paired_tile.cuh"

namespace sparsegpu::lu
{

static constexpr int TILE_STRIP = 8, TILE_WARPS = LU_TILE / TILE_STRIP; ///< columns of a tile that a warp has
static_assert(LU_TILE == 32, "a warp has a lane for each row of a tile");

namespace
{
/// What the warp of a strip of pivots leaves to the others: its columns of L, and from where each row has come.
template <class Number> struct TileStrip {
  Number column[TILE_STRIP][LU_TILE];
  int    source[LU_TILE], exchanged;
};

/// What a block shares while it factors a tile.
template <class Number> union TileShared
{
  TileStrip<Number> strips[2];                      ///< the one is read while the next one is written
  Number            entry[LU_TILE * (LU_TILE + 1)]; ///< with pairs
};
} // namespace

/// Pivots k0 + k1 .. in their own columns, which the warp has in registers, a row a lane. met [LU_TILE] of a half.
template <bool half, class Number>
static __device__ void EliminateTileStrip(const DeviceFront<Number> &F, PetscInt k0, int k1, int size,
                                          const LuPivoting &P, Number (&x)[TILE_STRIP], Number *met, PivotTally *tally,
                                          TileStrip<Number> *strip)
{
  const int lane   = static_cast<int>(threadIdx.x) % 32;
  int       source = lane;

#pragma unroll
  for (int q = 0; q < TILE_STRIP; q++) {
    const int k = k1 + q;
    if (k >= size) break;
    const TakenPivot<Number> pivot = TakePivot<half>(F, x[q], lane, k, size, P);
    if (pivot.row != k) { // the same in all lanes
      const int from = lane == k ? pivot.row : lane == pivot.row ? k : lane;
      source         = __shfl_sync(ALL_LANES, source, from);
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) x[c] = shuffle(x[c], from);
    }
    const Number factor = x[q] * pivot.inverse;
    if (lane == 0) {
      if (half) met[k] = pivot.met;
      tally->Count(pivot.met, pivot.used, P, F.first + k0 + k);
    }
#pragma unroll
    for (int c = q + 1; c < TILE_STRIP; c++) {
      const Number u = shuffle(x[c], k);
      if (lane > k) x[c] = x[c] - factor * u;
    }
    if (lane >= k) x[q] = lane > k ? factor : pivot.used;
  }
#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) strip->column[c][lane] = x[c];
  strip->source[lane]  = source;
  const bool exchanged = __any_sync(ALL_LANES, source != lane);
  if (lane == 0) strip->exchanged = exchanged;
}

/// A lane has a row of the tile, a warp a strip of columns in registers, whose pivots it eliminates when the strips
/// before are done; the others follow. Of a half the upper triangle is that of U while the tile is needed. TILE_WARPS
/// warps.
template <bool half, class Number> static __device__ void FactorStrips(const DeviceFront<Number> &F, PetscInt k0,
                                                                       const LuWorkspace<Number> &W,
                                                                       TileShared<Number>        &shared)
{
  const int        lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int        size = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscCount m    = half ? F.pivots - k0 : F.rows; // between columns
  Number          *tile = F.template Column<half>(k0) + k0;
  const LuPivoting P    = W.report->pivoting;
  Number           x[TILE_STRIP];
  int              row = lane;
  PivotTally       tally;

#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) {
    const int  j     = warp * TILE_STRIP + c;
    const bool there = lane < size && j < size;
    if (half && lane < j)
      x[c] = there ? F.Mirrored(tile[j + lane * m]) : Number(0);
    else
      x[c] = there ? tile[lane + j * m] : Number(0);
  }
  for (int s = 0; s < TILE_WARPS; s++) {
    const int          k1    = s * TILE_STRIP;
    TileStrip<Number> &strip = shared.strips[s % 2];
    if (k1 >= size) break;
    if (warp == s) EliminateTileStrip<half>(F, k0, k1, size, P, x, W.met + (half ? F.first + k0 : 0), &tally, &strip);
    __syncthreads();
    if (strip.exchanged) {
      const int source = strip.source[lane];
      row              = __shfl_sync(ALL_LANES, row, source);
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) {
        const Number v = shuffle(x[c], source);
        if (warp != s) x[c] = v;
      }
    }
    if (warp <= s) continue;
#pragma unroll
    for (int q = 0; q < TILE_STRIP; q++) {
      const Number factor = strip.column[q][lane];
#pragma unroll
      for (int c = 0; c < TILE_STRIP; c++) {
        const Number u = shuffle(x[c], k1 + q);
        if (lane > k1 + q) x[c] = x[c] - factor * u;
      }
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_STRIP; c++) {
    const int j = warp * TILE_STRIP + c;
    if (lane < size && j < size) tile[lane + j * m] = x[c];
  }
  if (warp == 0 && lane < size) W.local_row[F.first + k0 + lane] = k0 + row;
  if (lane == 0) tally.Tell(W.report);
}

/// The same with pivots of order 1 and 2, by a warp.
template <class Number> static __device__ void FactorPairs(const DeviceFront<Number> &F, PetscInt k0,
                                                           const LuWorkspace<Number> &W, TileShared<Number> &shared)
{
  constexpr int    PITCH = LU_TILE + 1;
  const int        lane  = static_cast<int>(threadIdx.x) % 32;
  const int        size  = static_cast<int>(F.pivots - k0 < LU_TILE ? F.pivots - k0 : LU_TILE);
  const PetscCount m     = F.pivots - k0;
  Number *const tile = F.template Column<true>(k0) + k0, *const entry = shared.entry;
  PairedTile<Number> T(F, entry, PITCH, size);
  PivotTally         tally;
  Number             met(0);
  int                row, code;

  for (int j = 0; j < size; j++)
    if (lane >= j && lane < size) entry[lane + j * PITCH] = tile[lane + j * m];
  __syncwarp();
  T.Mirror();
  T.Factor(W.report->pivoting, F.first + k0, &tally, &row, &code, &met);
  for (int j = 0; j < size; j++)
    if (lane < size) tile[lane + j * m] = entry[lane + j * PITCH];
  if (lane < size) {
    W.local_row[F.first + k0 + lane] = k0 + row;
    W.pair[F.first + k0 + lane]      = static_cast<PairCode>(code);
    W.met[F.first + k0 + lane]       = met;
  }
  tally.OfWarp();
  if (lane == 0) tally.Tell(W.report);
}

/// Threads that factor a tile.
template <Kept kept> constexpr int TILE_THREADS = kept == Kept::Paired ? 32 : 32 * TILE_WARPS;
/// The tile of pivots k0 ... of a front, by a block of so many threads, or of 32 * TILE_WARPS.
template <Kept kept, class Number> static __device__ void FactorTile(const DeviceFront<Number> &F, PetscInt k0,
                                                                     const LuWorkspace<Number> &W,
                                                                     TileShared<Number>        &shared)
{
  if constexpr (kept != Kept::Paired)
    FactorStrips<kept == Kept::Half>(F, k0, W, shared);
  else if (threadIdx.x < 32)
    FactorPairs(F, k0, W, shared);
}

} // namespace sparsegpu::lu
