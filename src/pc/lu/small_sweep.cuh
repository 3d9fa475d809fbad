/// A small front in the sweeps: a warp, whose lanes have its rows in registers, one of each tile.
#pragma once

#include "pc/lu/sweep.cuh"

namespace sparsegpu::lu
{

static_assert(LU_TILE == 32, "the rows that lanes have are a tile");
/// ROWS of all that follows: rows of a small front that a lane has at most. Few where no front has more, for their
/// registers.
static constexpr int FEWER_ROWS = 3, MOST_ROWS = (LARGEST_SMALL + 31) / 32;

/// Columns whose entries are loaded at a time, two such groups before they are used. More would fit, but fewer warps
/// then.
template <int rows, class Number> constexpr int AHEAD = (rows == 1 ? 8 : 4) / (sizeof(Number) > 8 ? 2 : 1);

/// Unknown k of a column, to all lanes, which have it in one of `rows` rows.
template <int rows, int ROWS, int columns, class Number>
static __device__ __forceinline__ Number Unknown(const Number (&v)[ROWS][columns], const Number (&inverse)[ROWS], int c,
                                                 int k)
{
  Number own = held(v[0][c] * inverse[0]);
#pragma unroll
  for (int q = 1; q < rows; q++) {
    const Number other = held(v[q][c] * inverse[q]);
    own                = k / 32 == q ? other : own;
  }
  return shuffle(own, k % 32);
}

/// Forward through a front of at most 32 `rows`; gather() waits for its values before their elimination, v.
template <int rows, Way way, int ROWS, int columns, class Gather, class Number>
static __device__ __forceinline__ void ForwardFront(const Factors<way, Number> &F, const Number (&inverse)[ROWS],
                                                    Number (&v)[ROWS][columns], const Gather &gather)
{
  constexpr int GROUP = AHEAD<rows, Number>;
  const int     p = static_cast<int>(F.p), m = static_cast<int>(F.m), lane = static_cast<int>(threadIdx.x) % 32;
  Number        now[GROUP][rows], next[GROUP][rows];
  const auto    load = [&](int k0, Number(&entry)[GROUP][rows]) {
#pragma unroll
    for (int u = 0; u < GROUP; u++)
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int a = lane + 32 * q, k = k0 + u;
        entry[u][q] = a > k && k < p && a < m ? F.Forward(a, k, k0 / LU_TILE * LU_TILE) : Number(0);
      }
  };
  const auto use = [&](int k0, const Number(&entry)[GROUP][rows]) {
#pragma unroll
    for (int u = 0; u < GROUP; u++) {
      const int k = k0 + u;
      if (k >= p) break;
#pragma unroll
      for (int c = 0; c < columns; c++) {
        const Number x = Unknown<rows>(v, inverse, c, k);
#pragma unroll
        for (int q = 0; q < rows; q++) {
          const int a = lane + 32 * q;
          if (a > k) v[q][c] = v[q][c] - entry[u][q] * x; // other rows must not become NaN
          if (way == Way::Transposed && a == k) v[q][c] = x;
        }
      }
    }
  };
  load(0, now); // before the children are waited for
  load(GROUP, next);
  gather();
  __syncwarp();
  for (int k0 = 0; k0 < p; k0 += 2 * GROUP) {
    use(k0, now);
    load(k0 + 2 * GROUP, now);
    use(k0 + GROUP, next);
    load(k0 + 3 * GROUP, next);
  }
}

/// Backward: columns of a front's others, whose unknowns lanes have, so that no step waits for another. column(u) is
/// the u-th of the group, or -1.
template <int rows, int ROWS, int columns, int group, class Column, class Number>
static __device__ __forceinline__ void TakeOthers(const Number (&entry)[group][rows], int p, const Column &column,
                                                  Number (&v)[ROWS][columns])
{
#pragma unroll
  for (int u = 0; u < group; u++) {
    const int k = column(u);
#pragma unroll
    for (int c = 0; c < columns; c++) {
      Number own = held(v[0][c]);
#pragma unroll
      for (int q = 1; q < ROWS; q++) {
        const Number other = held(v[q][c]);
        own                = k / 32 == q ? other : own;
      }
      const Number x = shuffle(own, k & 31);
#pragma unroll
      for (int q = 0; q < rows; q++)
        if (k >= 0 && static_cast<int>(threadIdx.x) % 32 + 32 * q < p) v[q][c] = v[q][c] - entry[u][q] * x;
    }
  }
}
/// Columns of its pivots, from the last one.
template <int rows, int ROWS, int columns, int group, class Column, class Number>
static __device__ __forceinline__ void TakePivots(const Number (&entry)[group][rows], const Number (&inverse)[ROWS],
                                                  const Column &column, Number (&v)[ROWS][columns])
{
#pragma unroll
  for (int u = 0; u < group; u++) {
    const int k = column(u);
    if (k < 0) break;
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const Number x = Unknown<rows>(v, inverse, c, k);
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int a = static_cast<int>(threadIdx.x) % 32 + 32 * q;
        if (a < k) v[q][c] = v[q][c] - entry[u][q] * x;
        if (a == k) v[q][c] = x;
      }
    }
  }
}

/// Backward through a front of at most 32 `rows` pivots; take() waits for the unknowns of its others.
template <int rows, Way way, int ROWS, int columns, class Take, class Number>
static __device__ __forceinline__ void BackwardFront(const Factors<way, Number> &F, const Number (&inverse)[ROWS],
                                                     Number (&v)[ROWS][columns], const Take &take)
{
  constexpr int GROUP = AHEAD<rows, Number>;
  const int     p = static_cast<int>(F.p), m = static_cast<int>(F.m), lane = static_cast<int>(threadIdx.x) % 32;
  const int     others = (m - p + GROUP - 1) / GROUP, groups = others + (p + GROUP - 1) / GROUP;
  Number        now[GROUP][rows], next[GROUP][rows];
  const auto    column = [&](int g, int u) { // -1: none
    const int k = g < others ? m - 1 - g * GROUP - u : p - 1 - (g - others) * GROUP - u;
    return k >= (g < others ? p : 0) ? k : -1;
  };
  const auto load = [&](int g, Number(&entry)[GROUP][rows]) {
#pragma unroll
    for (int u = 0; u < GROUP; u++)
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int a = lane + 32 * q, k = column(g, u);
        entry[u][q] = a < k && a < p ? F.Backward(a, k, 32 * q) : Number(0);
      }
  };
  const auto use = [&](int g, const Number(&entry)[GROUP][rows]) {
    const auto of_group = [&](int u) { return column(g, u); };
    if (g < others)
      TakeOthers<rows>(entry, p, of_group, v);
    else
      TakePivots<rows>(entry, inverse, of_group, v);
  };
  load(0, now); // before the parents are waited for
  load(1, next);
  take();
  __syncwarp();
  for (int g = 0; g < groups; g += 2) {
    use(g, now);
    load(g + 2, now);
    use(g + 1, next);
    load(g + 3, next);
  }
}

/// The pairs among the rows that lanes have of a front, see TurnLanes().
template <Way way, bool back, int ROWS, int columns, class Number>
static __device__ __forceinline__ void TurnRows(const LuSolution<Number> &W, PetscInt first, int p,
                                                Number (&v)[ROWS][columns])
{
  if constexpr (way == Way::Paired) {
    __syncwarp();
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      if (32 * q >= p) break;
      const int a = static_cast<int>(threadIdx.x) % 32 + 32 * q, code = CodeOf<way>(W, first, a, a < p);
#pragma unroll
      for (int c = 0; c < columns; c++) v[q][c] = TurnLanes<back>(code, v[q][c]);
    }
  }
}

} // namespace sparsegpu::lu
