/// Rows of a large front that a thread block takes through a sweep with one column: by substitution where they are all
/// of the front's pivots, with the inverse of their triangle where other blocks wait for them.
#pragma once

#include "pc/lu/swept_rows.hpp"
#include "pc/lu/swept_triangle.cuh"

namespace sparsegpu::lu
{

namespace
{
constexpr int SHARES = WARPS; ///< of the columns that rows are multiplied with, each a warp's

/// Which rows and which columns a thread has: lanes have a row of each 32, warps shares of the columns.
template <class Number> struct SweptPlace {
  static constexpr int ROWS = SWEPT_ROWS<Number>, HALVES = ROWS / 32, COLUMNS = ROWS / SHARES;
  const int            lane = threadIdx.x % 32, share = threadIdx.x / 32;

  __device__ int Row(int h) const { return 32 * h + lane; }
  /// Of the warps that have rows by themselves, the first HALVES ones: the thread's.
  __device__ int  OwnRow() const { return 32 * share + lane; }
  __device__ bool HasRows() const { return share < HALVES; }
};

/// A lower triangle [rows x rows] in blocks of 32 x 32, those of its first 32 rows first, and then its inverse.
template <class Number> struct SweptTriangle {
  static constexpr int HALVES = SWEPT_ROWS<Number> / 32, PITCH = SWEPT_PITCH;
  alignas(16) Number entry[2 * HALVES - 1][32][PITCH];
  Number inverse[SWEPT_ROWS<Number>]; ///< of the entries on the diagonal

  __device__ Number       &At(int row, int k) { return entry[row / 32 + k / 32][row % 32][k % 32]; }
  __device__ const Number *Row(int row, int k) const { return &entry[row / 32 + k / 32][row % 32][k % 32]; }

  /// Of all threads of a block; begins and ends with a barrier.
  __device__ void Invert()
  {
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (warp < HALVES) InvertTriangle(entry[2 * warp], inverse + 32 * warp);
    __syncthreads();
    if constexpr (HALVES == 2) { // (A 0; B C) has the inverse (A^-1 0; -C^-1 B A^-1 C^-1)
      Multiply(entry[1], entry[0], false);
      Multiply(entry[2], entry[1], true);
    }
  }

private:
  /// The block below the diagonal becomes the product of A and B, one of which it is, times -1 if `minus`.
  __device__ void Multiply(const Number (*A)[PITCH], const Number (*B)[PITCH], bool minus)
  {
    constexpr int COLUMNS = 32 / WARPS; // of a warp
    const int     lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32 * COLUMNS;
    Number        sum[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) sum[c] = Number(0);
#pragma unroll 2
    for (int k = 0; k < 32; k += 2) AddTwoRows(Two<Number>(A[lane] + k), B[k] + first, B[k + 1] + first, sum);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) entry[1][lane][first + c] = minus ? Number(0) - sum[c] : sum[c];
    __syncthreads();
  }
};

/// What a block shares. Rows are in the order in which their unknowns come.
template <class Number> struct SweptTile {
  static constexpr int  ROWS = SWEPT_ROWS<Number>;
  SweptTriangle<Number> triangle;
  Number                right[ROWS];                 ///< before what earlier unknowns take from it
  Number                part[SHARES][ROWS];          ///< of that, by the shares
  Number                product[SHARES][ROWS];       ///< of the inverse with what is left
  alignas(16) Number unknown[SHARES][ROWS / SHARES]; ///< that a warp's columns are multiplied with
  Number             x[ROWS];                        ///< where the rows are all of a front's pivots
  unsigned long long claimed;

  /// right - parts of row k.
  __device__ Number Left(int k) const
  {
    static_assert(SHARES == 4, "all of them");
    return right[k] - ((part[0][k] + part[1][k]) + (part[2][k] + part[3][k]));
  }
  /// S.part as SweptProducts::Tell() wants it. To be followed by a barrier.
  __device__ void ClearParts()
  {
    for (int k = static_cast<int>(threadIdx.x); k < SHARES * ROWS; k += THREADS) part[k / ROWS][k % ROWS] = Number(0);
  }
  /// The triangle of the rows at their positions; entry(row, row) of a position below its own, if that is below `last`.
  /// To be followed by a barrier.
  template <class Position, class Entry> __device__ void Load(const Position &position, int last, const Entry &entry)
  {
    using Place = SweptPlace<Number>;
    const Place P;
    Number      e[Place::HALVES][Place::COLUMNS];
#pragma unroll
    for (int u = 0; u < Place::COLUMNS; u++)
#pragma unroll
      for (int h = 0; h < Place::HALVES; h++) {
        const int k = P.share * Place::COLUMNS + u, l = position(P.Row(h));
        e[h][u] = k < l && l < last ? entry(P.Row(h), position(k)) : Number(0);
      }
#pragma unroll
    for (int u = 0; u < Place::COLUMNS; u++)
#pragma unroll
      for (int h = 0; h < Place::HALVES; h++) {
        const int k = P.share * Place::COLUMNS + u, l = position(P.Row(h));
        if (k / 32 <= l / 32 && l >= 0) triangle.At(l, k) = e[h][u];
      }
  }
  /// The unknown of own row l of the threads that have one, once the parts are there. All threads must call.
  template <class Position> __device__ Number Solve(const Position &position)
  {
    using Place = SweptPlace<Number>;
    const Place P;
    const int   k0 = P.share * Place::COLUMNS;

    __syncthreads();
    if (P.lane < Place::COLUMNS) unknown[P.share][P.lane] = Left(k0 + P.lane);
    __syncwarp();
#pragma unroll
    for (int h = 0; h < Place::HALVES; h++) {
      const int l = position(P.Row(h));
      Number    y(0), z(0);
      if (k0 / 32 <= l / 32) { // the same in all lanes
        const Number *const N = triangle.Row(l, k0);
#pragma unroll
        for (int u = 0; u < Place::COLUMNS; u += 2) {
          const Two<Number> entries(N + u), unknowns(unknown[P.share] + u);
          y = y + entries.first * unknowns.first;
          z = z + entries.second * unknowns.second;
        }
      }
      product[P.share][l] = y + z;
    }
    __syncthreads();
    if (!P.HasRows()) return Number(0);
    const int l = position(P.OwnRow());
    return (product[0][l] + product[1][l]) + (product[2][l] + product[3][l]);
  }
  /// x from right by substitution, of `count` rows; `scaled`: the diagonal's inverses are in the triangle, otherwise it
  /// is 1. Between barriers; all threads must call.
  template <bool scaled> __device__ void Substitute(int count)
  {
    const int lane = threadIdx.x % 32;
    const int warp = __shfl_sync(ALL_LANES, threadIdx.x / 32, 0); // the compiler sees that it is a warp's

    for (int b = 0; 32 * b < count; b++) {
      __syncthreads();
      if (warp != b) continue;
      const int    l       = 32 * b + lane;
      const Number inverse = scaled ? triangle.inverse[l] : Number(1);
      Number       v       = right[l];
#pragma unroll 8
      for (int k = 0; k < 32 * b; k++) v = v - triangle.At(l, k) * x[k];
      if (scaled) v = v * inverse;
#pragma unroll 8
      for (int k = 0; k < count - 32 * b && k < 32; k++) {
        const Number entry = scaled ? triangle.At(l, 32 * b + k) * inverse : triangle.At(l, 32 * b + k);
        const Number known = shuffle(v, k), below = v - entry * known;
        v = lane > k ? below : v; // other rows must not become NaN
      }
      x[l] = v;
    }
    __syncthreads();
  }
};
static_assert(sizeof(SweptTile<Scalar>) <= 48 * 1024, "what a kernel can declare");
} // namespace

} // namespace sparsegpu::lu
