/// Rows of a large front that a thread block takes through a sweep with several columns: a tile. Lanes have the rows.
/// Of the columns of L or U before the tile each warp multiplies a share with the unknowns of all right-hand sides,
/// from shared memory, so that the factors are read once; then it takes its share of the right-hand sides through the
/// tile's triangle. A column's sums are in one order: bitwise reproducible.
#pragma once

#include "pc/lu/swept_rows.hpp"
#include "pc/lu/swept_triangle.cuh"

namespace sparsegpu::lu
{

namespace
{
constexpr int SHARE  = LU_TILE / WARPS; ///< columns of a tile of factors that a warp of a block takes
constexpr int LOADED = 32 / SHARE;      ///< right-hand sides whose unknowns of them the lanes load at a time
constexpr int LOADS  = LU_COLUMNS / LOADED;
constexpr int PITCH  = LU_COLUMNS + 2; ///< so that SHARE rows of unknowns are in different banks
static_assert(LOADED == 4, "the least that SweptColumns() has of several");
static_assert(WARPS * WARP_COLUMNS == LU_COLUMNS, "each warp has a share of the right-hand sides");

/// What the warps of a block share of a tile.
template <class Number> struct Shared {
  alignas(16) Number x[WARPS][SHARE][PITCH]; ///< unknowns, as the warps need them, by right-hand side
  Number part[WARPS][LU_COLUMNS][32];        ///< what the warps' shares add to the rows
  alignas(
      16) Number triangle[LU_TILE][SWEPT_PITCH]; ///< of the tile, by rows in the order of their unknowns; its inverse
  Number             inverse[LU_TILE];           ///< of the pivots, or 1
  unsigned long long claimed;
};
static_assert(sizeof(Shared<Scalar>) <= 48 * 1024, "of any device");

/// Entries of a warp's columns on their way to the L2 cache, of `rows` rows and `columns` columns that are there;
/// `by_rows`: those of a column lie together.
template <bool by_rows, class Number, class Where>
__device__ __forceinline__ void FetchShare(PetscInt rows, PetscInt columns, const Where &place)
{
  constexpr int LINE = 128 / sizeof(Number), LINES = by_rows ? LU_TILE / LINE : 1;
  for (int q = static_cast<int>(threadIdx.x) % 32; q < (by_rows ? SHARE * LINES : LU_TILE); q += 32) {
    const PetscInt row = by_rows ? q % LINES * LINE : q, column = by_rows ? q / LINES : 0;
    if (row < rows && column < columns) fetch_to_l2(place(row, column));
  }
}

/// Lane l of a warp holds entries of row l in SHARE columns of the factors; `unknown`, where the first right-hand side
/// has what column l % SHARE of them is multiplied with, if `there`: waits for it and adds the products.
template <class Number> __device__ __forceinline__ void AddProducts(const Number (&entry)[SHARE], const Number *unknown,
                                                                    bool there, int launch, const LuSolution<Number> &W,
                                                                    Number (*x)[PITCH], Number (&sum)[LU_COLUMNS])
{
  const int lane = threadIdx.x % 32, own = lane % SHARE, first = lane / SHARE;
  Number    loaded[LOADS];

  AwaitColumns(unknown + first * W.stride, LOADED * W.stride, there ? static_cast<int>(W.columns) / LOADED : 0, launch,
               W, loaded);
  __syncwarp(); // the last products have been read
#pragma unroll
  for (int j = 0; j < LOADS; j++) x[own][first + j * LOADED] = loaded[j];
  __syncwarp();
#pragma unroll
  for (int u = 0; u < SHARE; u++)
#pragma unroll
    for (int c = 0; c < LU_COLUMNS; c++) sum[c] = sum[c] + entry[u] * x[u][c];
}

/// v, of the warp's own right-hand sides, less the sums of all warps. All threads must call.
template <class Number> __device__ __forceinline__ void SubtractSums(const Number (&sum)[LU_COLUMNS], Shared<Number> *S,
                                                                     Number (&v)[WARP_COLUMNS])
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int c = 0; c < LU_COLUMNS; c++) S->part[warp][c][lane] = sum[c];
  __syncthreads();
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) {
    const int column = warp * WARP_COLUMNS + c;
    Number    total  = S->part[0][column][lane];
#pragma unroll
    for (int w = 1; w < WARPS; w++) total += S->part[w][column][lane];
    v[c] = v[c] - total;
  }
}

/// See TurnLanes().
template <Way way, bool back, class Number>
__device__ __forceinline__ void TurnColumns(int code, Number (&v)[WARP_COLUMNS])
{
  if constexpr (way == Way::Paired) {
#pragma unroll
    for (int c = 0; c < WARP_COLUMNS; c++) v[c] = TurnLanes<back>(code, v[c]);
  }
}

/// The front's other rows, as many as go along, of its unknowns S.x, where its pivots are all of one tile: a warp has a
/// tile of rows at a time, with all right-hand sides.
template <Way way, class Number>
__device__ __forceinline__ void TakeAlong(const FrontsView &V, const Factors<way, Number> &F, PetscInt first,
                                          PetscCount row_begin, int launch, const LuSolution<Number> &W,
                                          const Shared<Number> &S)
{
  const PetscInt p = static_cast<PetscInt>(F.p), m = static_cast<PetscInt>(F.m);
  const PetscInt end     = PetscMin(m, p + TAKEN_ALONG);
  const int      columns = static_cast<int>(W.columns);

  for (PetscInt i = p + static_cast<PetscInt>(threadIdx.x); i - static_cast<PetscInt>(threadIdx.x) % 32 < end;
       i += THREADS) {
    const bool active = i < end;
    Number     v[LU_COLUMNS], entry[SHARE];
    Clear(v);
    if (active) Gather<way>(V, first, row_begin, p, i, launch, W, 0, v, columns);
    for (PetscInt k0 = 0; k0 < p; k0 += SHARE) {
#pragma unroll
      for (int u = 0; u < SHARE; u++) entry[u] = active && k0 + u < p ? F.Forward(i, k0 + u, 0) : Number(0);
#pragma unroll
      for (int u = 0; u < SHARE; u++)
#pragma unroll
        for (int c = 0; c < LU_COLUMNS; c++) v[c] = v[c] - entry[u] * S.x[k0 / SHARE][u][c];
    }
#pragma unroll
    for (int c = 0; c < LU_COLUMNS; c++)
      if (active && c < columns) publish(W.parts + row_begin + i - p + c * W.stride, v[c]);
  }
}

template <class Number>
__device__ __forceinline__ void Publish(Number *to, PetscCount stride, const Number (&v)[WARP_COLUMNS])
{
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) publish(to + c * stride, v[c]);
}

/// The rows of a tile that are there, the first `last`, and the order in which their unknowns come.
template <bool up> struct TileOrder {
  int last;

  /// Of a lane's row, or the row at a position.
  __device__ int Position(int row) const { return up && row < last ? last - 1 - row : row; }
};

/// The triangle of the tile to S; entry(row, other) of a row and one whose unknown comes earlier.
template <bool up, class Number, class Entry>
__device__ __forceinline__ void LoadTriangle(const TileOrder<up> &order, const Entry &entry, Shared<Number> &S)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = order.Position(lane);
  Number    e[SHARE];
#pragma unroll
  for (int u = 0; u < SHARE; u++) {
    const int k = warp * SHARE + u;
    e[u]        = lane < order.last && k < l ? entry(lane, order.Position(k)) : Number(0);
  }
#pragma unroll
  for (int u = 0; u < SHARE; u++) S.triangle[l][warp * SHARE + u] = e[u];
}
/// v of the lanes' rows become unknowns, one after the other.
template <bool up, class Number> __device__ __forceinline__ void Substitute(const TileOrder<up>  &order,
                                                                            const Shared<Number> &S,
                                                                            Number (&v)[WARP_COLUMNS])
{
  const int    lane = threadIdx.x % 32, l = order.Position(lane);
  const Number inverse = S.inverse[l];
  for (int k = 0; k < order.last; k++) {
    const Number entry = S.triangle[l][k];
#pragma unroll
    for (int c = 0; c < WARP_COLUMNS; c++) {
      const Number x = shuffle(v[c] * inverse, order.Position(k)), below = v[c] - entry * x;
      v[c] = l > k ? below : l == k ? x : v[c]; // other rows must not become NaN
    }
  }
}
/// The same at once, by the triangle's inverse.
template <bool up, class Number> __device__ __forceinline__ void MultiplyInverse(const TileOrder<up> &order,
                                                                                 Shared<Number>      &S,
                                                                                 Number (&v)[WARP_COLUMNS])
{
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * WARP_COLUMNS, l = order.Position(lane);
  Number(*const x)[PITCH] = S.x[0]; // of rows one after the other
#pragma unroll
  for (int c = 0; c < WARP_COLUMNS; c++) {
    x[l][first + c] = v[c];
    v[c]            = Number(0);
  }
  __syncwarp();
#pragma unroll 4
  for (int k = 0; k < LU_TILE; k += 2) AddTwoRows(Two<Number>(S.triangle[l] + k), x[k] + first, x[k + 1] + first, v);
}
} // namespace

} // namespace sparsegpu::lu
