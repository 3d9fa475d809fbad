/// Sums for Gram matrices on the device: a warp has a tile of TILE x TILE entries of the upper triangle, its lanes have
/// rows; the last thread block adds up those of all blocks, in their order, and does the algebra of block_small.hpp.
#pragma once

#include <type_traits>
#include "ksp/cg/block.hpp"
#include "ksp/common/passes.cuh"

namespace sparsegpu::cg
{

constexpr int TILE = 4, TILE_ENTRIES = TILE * TILE;

/// How a pass with sums of blocks of width S is shared: a thread block takes ROWS rows at a time, each by PARTS threads
/// that have columns of their own; SHARES warps have the same tile and share these rows.
template <int S> struct Shape {
  static constexpr int SIDE = S / TILE, TILES = SIDE * (SIDE + 1) / 2;
  static constexpr int THREADS = S == 16 ? 320 : S == 8 ? 192 : 256, PARTS = S == 16 ? 2 : 1;
  static constexpr int ROWS = THREADS / PARTS, COLUMNS = S / PARTS, SHARES = THREADS / 32 / TILES;
  static_assert(THREADS == SHARES * TILES * 32, "all warps have a tile");
};

/// Sums of `matrices` Gram matrices of a thread block, and scratch of the algebra.
template <int S, int matrices> struct SharedSize {
  static constexpr int SUMS    = Shape<S>::TILES * TILE_ENTRIES * matrices; ///< of a thread block
  static constexpr int GROUPS  = Shape<S>::THREADS / SUMS > 0 ? Shape<S>::THREADS / SUMS : 1;
  static constexpr int SCRATCH = (GROUPS > Shape<S>::SHARES ? GROUPS : Shape<S>::SHARES) * SUMS;
  static constexpr int ALL     = BLOCK_ROOM * S * S + SCRATCH;
  static_assert(SUMS <= BLOCK_SUMS);
};

/// The tile (i, j), i <= j, of a warp.
struct TileOf {
  int index, share, i, j;

  template <int S> static __device__ __forceinline__ TileOf Warp()
  {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    TileOf    tile{warp % Shape<S>::TILES, warp / Shape<S>::TILES, 0, 0};
    while ((tile.j + 1) * (tile.j + 2) / 2 <= tile.index) tile.j++;
    tile.i = tile.index - tile.j * (tile.j + 1) / 2;
    return tile;
  }
};

/// Adds the products of rows 0 .. rows - 1 of left(c, r) and right(c, r), times weight(m, r) in matrix m.
template <int S, int matrices, class Left, class Right, class Weight>
__device__ __forceinline__ void add_tile(const TileOf &tile, PetscInt rows, Scalar (&sums)[matrices][TILE_ENTRIES],
                                         Left left, Right right, Weight weight)
{
  for (PetscInt r = tile.share * 32 + threadIdx.x % 32; r < rows; r += 32 * Shape<S>::SHARES) {
    Scalar a[TILE], b[TILE];
#pragma unroll
    for (int k = 0; k < TILE; k++) {
      a[k] = Conj(left(TILE * tile.i + k, r));
      b[k] = right(TILE * tile.j + k, r);
    }
#pragma unroll
    for (int m = 0; m < matrices; m++) {
      const Scalar w(weight(m, r));
#pragma unroll
      for (int j = 0; j < TILE; j++) {
        const Scalar weighted = w * b[j];
#pragma unroll
        for (int i = 0; i < TILE; i++) sums[m][i + TILE * j] += a[i] * weighted;
      }
    }
  }
}

/// Adds up the sums of all warps and thread blocks: true to the last block alone, with the sums of its matrices m at
/// scratch[m * TILES * TILE_ENTRIES ...], by tiles. All threads must call.
template <int S, int matrices>
__device__ __forceinline__ bool close_tiles(const TileOf &tile, Scalar (&sums)[matrices][TILE_ENTRIES], Scalar *scratch,
                                            Scalar *partial, unsigned *arrived)
{
  constexpr int SUMS = SharedSize<S, matrices>::SUMS, GROUPS = SharedSize<S, matrices>::GROUPS;
  constexpr int THREADS = Shape<S>::THREADS, EACH = Shape<S>::TILES * TILE_ENTRIES;
  const int     lane = threadIdx.x % 32, thread = static_cast<int>(threadIdx.x);

  __syncthreads(); // the scratch may still be read
#pragma unroll
  for (int m = 0; m < matrices; m++)
#pragma unroll
    for (int e = 0; e < TILE_ENTRIES; e++) {
      Scalar sum = sums[m][e];
#pragma unroll
      for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask, 32);
      if (lane == e) scratch[tile.share * SUMS + m * EACH + tile.index * TILE_ENTRIES + e] = sum;
    }
  __syncthreads();
  for (int e = thread; e < SUMS; e += THREADS) {
    Scalar sum(0);
    for (int share = 0; share < Shape<S>::SHARES; share++) sum += scratch[share * SUMS + e];
    partial[static_cast<size_t>(blockIdx.x) * SUMS + e] = sum;
  }
  __threadfence();
  __syncthreads();
  if (!is_last_block(arrived)) return false;
  for (int e = thread; e < GROUPS * SUMS; e += THREADS) {
    Scalar sum(0);
#pragma unroll 8
    for (unsigned b = e / SUMS; b < gridDim.x; b += GROUPS)
      sum += load_shared(partial + static_cast<size_t>(b) * SUMS + e % SUMS);
    scratch[e] = sum;
  }
  __syncthreads();
  for (int e = thread; e < SUMS; e += THREADS)
    for (int g = 1; g < GROUPS; g++) scratch[e] += scratch[g * SUMS + e];
  __syncthreads();
  return true;
}

/// A Hermitian matrix from the tiles of its upper triangle. All threads of the block must call.
template <int S> __device__ __forceinline__ void fill_gram(const Scalar *tiles, Scalar *gram)
{
  for (int e = threadIdx.x; e < S * S; e += Shape<S>::THREADS) {
    const int row = e % S, column = e / S, i = row < column ? row : column, j = row < column ? column : row;
    const int at = (j / TILE * (j / TILE + 1) / 2 + i / TILE) * TILE_ENTRIES + i % TILE + j % TILE * TILE;
    gram[e]      = row < column ? tiles[at] : row > column ? Conj(tiles[at]) : Scalar(RealPart(tiles[at]));
  }
  __syncthreads();
}

/// The outcome of an iteration to the host; norms [count], null: 0. All threads of the last block must call, which have
/// the same outcome.
__device__ __forceinline__ void tell(const BlockControl &c, int count, Outcome outcome, const PetscReal *norms)
{
  const int       slot = static_cast<int>(threadIdx.x);
  const bool      mine = slot < count, tests = outcome == GOES_ON && norms && c.number + 1 >= c.tested_from;
  const PetscReal norm   = mine && norms ? norms[slot] : 0;
  const bool      stops  = mine && tests && (norm <= c.converged[slot] || norm >= c.diverged[slot]);
  const bool      solved = stops || (mine && c.state->done[slot]);

  if (mine) begin_record(c.records + slot, Record{norm, stops ? STOPS : outcome, c.round});
  if (stops) c.state->done[slot] = 1;
  const int all = __syncthreads_and(!mine || solved);
  if (slot == 0 && outcome != GOES_ON) c.state->stopped_at = c.number - 1; // this iteration changes no solution
  if (slot == 0 && outcome == GOES_ON && all) c.state->stopped_at = c.number;
  if (mine) end_record(c.records + slot, c.round);
}

/// Norms, T and N have been summed: what is left of pass 3, by all threads of the last block.
template <int S, bool begins> __device__ __forceinline__ void close_residual(int count, const Scalar *norm,
                                                                             const BlockRoom &small, PetscReal *norms,
                                                                             const BlockControl &c)
{
  const Team team{static_cast<int>(threadIdx.x), Shape<S>::THREADS};
  Outcome    outcome = GOES_ON;

  if (threadIdx.x < BLOCK_MOST) norms[threadIdx.x] = 0;
  __syncthreads();
  if (!begins && c.norm != Norm::None) NormsOfBlock(team, count, norm, small, *c.state, norms);
  for (int k = 0; k < count; k++)
    if (!Finite(norms[k])) outcome = CURVATURE_NOT_FINITE;
  if (outcome == GOES_ON) outcome = FactorBlock(team, count, begins, small, c.state);
  if (begins)
    tell(c, 1, outcome, nullptr);
  else
    tell(c, count, outcome, norms);
}

/// A pass with sums, with blocks for all rows, as many as are on the device at a time.
template <auto kernel, int S>
PetscErrorCode LaunchTiles(const ManyArrays &v, const BlockControl &control, Stream stream)
{
  PetscInt full;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks<kernel>(Shape<S>::THREADS, &full));
  const PetscInt useful = v.rows > 0 ? (v.rows - 1) / Shape<S>::ROWS + 1 : 1,
                 most   = full < BLOCK_GRID ? full : BLOCK_GRID;
  PetscCall(LaunchEarly<kernel>(useful < most ? useful : most, Shape<S>::THREADS, static_cast<cudaStream_t>(stream), v,
                                control));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// run(width) with the width of a block as a constant.
template <class Run> PetscErrorCode WithWidth(int count, Run run)
{
  PetscFunctionBegin;
  switch (BlockWidth(count)) {
  case 4: PetscCall(run(std::integral_constant<int, 4>())); break;
  case 8: PetscCall(run(std::integral_constant<int, 8>())); break;
  default:
    if constexpr (BLOCK_MOST >= 16) PetscCall(run(std::integral_constant<int, 16>()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
