/// Rows of a large front that a thread block takes through a sweep with one column, and the inverse of their triangle:
/// with it all unknowns of the rows come at once, instead of one after the other. The inverse is found while the block
/// waits for unknowns of other blocks. Unlike substitution this is not backward stable: the error grows with the
/// inverse of the 64 rows, which the residual of a refined solve shows and its next step repairs. Du Croz & Higham,
/// "Stability of methods for matrix inversion", IMA J. Numer. Anal. 12(1), 1992.
#pragma once

#include "pc/lu/sweep.cuh"
#include "pc/lu/swept_rows.hpp"

namespace sparsegpu::lu
{

namespace
{
/// A lower triangle [rows x rows] in blocks of 32 x 32, those of its first 32 rows first, and then its inverse.
template <class Number> struct SweptTriangle {
  static constexpr int HALVES = SWEPT_ROWS<Number> / 32, PITCH = 33; ///< rows in different banks
  Number               entry[2 * HALVES - 1][32][PITCH];
  Number               inverse[SWEPT_ROWS<Number>]; ///< of the entries on the diagonal

  __device__ Number       &At(int row, int k) { return entry[row / 32 + k / 32][row % 32][k % 32]; }
  __device__ const Number *Row(int row, int k) const { return &entry[row / 32 + k / 32][row % 32][k % 32]; }

  /// Of all threads of a block, 4 * HALVES warps; begins and ends with a barrier.
  __device__ void Invert()
  {
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (warp < HALVES) InvertOne(entry[2 * warp], inverse + 32 * warp);
    __syncthreads();
    if constexpr (HALVES == 2) { // (A 0; B C) has the inverse (A^-1 0; -C^-1 B A^-1 C^-1)
      Multiply(entry[1], entry[0], false);
      Multiply(entry[2], entry[1], true);
    }
  }

private:
  /// A lane has a column of the inverse.
  __device__ void InvertOne(Number (*block)[PITCH], const Number *diagonal)
  {
    const int lane = threadIdx.x % 32;
    Number    x[32];
#pragma unroll
    for (int k = 0; k < 32; k++) x[k] = Number(k == lane ? 1 : 0);
#pragma unroll
    for (int k = 0; k < 32; k++) {
      x[k] = x[k] * diagonal[k];
#pragma unroll
      for (int i = k + 1; i < 32; i++) x[i] = x[i] - block[i][k] * x[k];
    }
    __syncwarp(); // all have read
#pragma unroll
    for (int k = 0; k < 32; k++) block[k][lane] = x[k];
  }
  /// The block below the diagonal becomes the product of A and B, one of which it is, times -1 if `minus`.
  __device__ void Multiply(const Number (*A)[PITCH], const Number (*B)[PITCH], bool minus)
  {
    constexpr int COLUMNS = 4; // 32 / (4 * HALVES) of a warp
    const int     lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32 * COLUMNS;
    Number        sum[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) sum[c] = Number(0);
#pragma unroll 4
    for (int k = 0; k < 32; k++)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) sum[c] = sum[c] + A[lane][k] * B[k][first + c];
    __syncthreads();
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) entry[1][lane][first + c] = minus ? Number(0) - sum[c] : sum[c];
    __syncthreads();
  }
};

constexpr int SHARES = 4; ///< of the columns that rows are multiplied with, each a warp's

/// What a block shares. Rows are in the order in which their unknowns come.
template <class Number> struct SweptTile {
  SweptTriangle<Number> triangle;
  Number                right[SWEPT_ROWS<Number>];           ///< before what earlier unknowns take from it
  Number                part[SHARES][SWEPT_ROWS<Number>];    ///< of that, by the shares
  Number                product[SHARES][SWEPT_ROWS<Number>]; ///< of the inverse with what is left
  unsigned long long    claimed;
};
static_assert(sizeof(SweptTile<Scalar>) <= 48 * 1024, "what a kernel can declare");

/// Which row and which columns a thread has: lanes have the rows, in halves of 32; shares of columns go to the warps of
/// a half.
template <class Number> struct SweptPlace {
  static constexpr int ROWS = SWEPT_ROWS<Number>, COLUMNS = ROWS / SHARES;
  const int            lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int            half = warp / SHARES, share = warp % SHARES, row = 32 * half + lane;
};

/// right - parts of row k.
template <class Number> static __device__ __forceinline__ Number Left(const SweptTile<Number> &S, int k)
{
  static_assert(SHARES == 4, "all of them");
  return S.right[k] - ((S.part[0][k] + S.part[1][k]) + (S.part[2][k] + S.part[3][k]));
}

/// The unknown of a thread's row, which is the l-th one, for threads of the first share; sum: what earlier unknowns
/// take from the row, the thread's part. All threads must call.
template <class Number> static __device__ __forceinline__ Number SolveTile(SweptTile<Number> &S, int l, Number sum)
{
  using Place = SweptPlace<Number>;
  const Place P;
  const int   k0 = P.share * Place::COLUMNS;
  Number      x(0);

  S.part[P.share][l] = sum;
  __syncthreads();
  if (k0 / 32 <= l / 32) { // the same in all lanes
    const Number        v = Left(S, k0 + P.lane % Place::COLUMNS);
    const Number *const N = S.triangle.Row(l, k0);
#pragma unroll
    for (int u = 0; u < Place::COLUMNS; u++) x = x + N[u] * shuffle(v, u);
  }
  S.product[P.share][l] = x;
  __syncthreads();
  if (P.share > 0) return x;
  return (S.product[0][l] + S.product[1][l]) + (S.product[2][l] + S.product[3][l]);
}
} // namespace

} // namespace sparsegpu::lu
