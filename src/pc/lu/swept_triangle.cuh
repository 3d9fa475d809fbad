/// The inverse of a triangle of a tile's rows, with which all their unknowns come at once, instead of one after the
/// other. It is found while the block waits for unknowns of other blocks. Unlike substitution this is not backward
/// stable: the error grows with the inverse, which the residual of a refined solve shows and its next step repairs.
/// Du Croz & Higham, "Stability of methods for matrix inversion", IMA J. Numer. Anal. 12(1), 1992.
#pragma once

#include "pc/lu/sweep.cuh"

namespace sparsegpu::lu
{

namespace
{
constexpr int SWEPT_PITCH = LU_TILE + 2; ///< of a triangle in shared memory: pairs of rows in different banks

/// Two neighbours in shared memory, by one instruction where it can: the first at an even place.
template <class Number> struct Two {
  Number first, second;

  __device__ explicit Two(const Number *at)
  {
    struct alignas(sizeof(Number) < 16 ? 2 * sizeof(Number) : 16) Aligned {
      Number first, second;
    };
    const Aligned two = *reinterpret_cast<const Aligned *>(at);
    first             = two.first;
    second            = two.second;
  }
};

/// sum += a.first and a.second times `columns` entries from `upper` and from `lower` on, each at an even place.
template <int columns, class Number>
__device__ __forceinline__ void AddTwoRows(const Two<Number> &a, const Number *upper, const Number *lower,
                                           Number (&sum)[columns])
{
#pragma unroll
  for (int c = 0; c < columns; c += 2) {
    const Two<Number> b(upper + c), d(lower + c);
    sum[c]     = sum[c] + a.first * b.first;
    sum[c + 1] = sum[c + 1] + a.first * b.second;
    sum[c]     = sum[c] + a.second * d.first;
    sum[c + 1] = sum[c + 1] + a.second * d.second;
  }
}

/// The lower triangle below the diagonal, of whose entries `diagonal` has the inverses, becomes its inverse. Of a warp:
/// a lane has a column.
template <class Number> __device__ void InvertTriangle(Number (*block)[SWEPT_PITCH], const Number *diagonal)
{
  const int lane = threadIdx.x % 32;
  Number    x[LU_TILE];
#pragma unroll
  for (int k = 0; k < LU_TILE; k++) x[k] = Number(k == lane ? 1 : 0);
#pragma unroll
  for (int k = 0; k < LU_TILE; k += 2) {
    x[k]     = x[k] * diagonal[k];
    x[k + 1] = (x[k + 1] - block[k + 1][k] * x[k]) * diagonal[k + 1];
#pragma unroll
    for (int i = k + 2; i < LU_TILE; i++) {
      const Two<Number> two(block[i] + k);
      x[i] = x[i] - two.first * x[k];
      x[i] = x[i] - two.second * x[k + 1];
    }
  }
  __syncwarp(); // all have read
#pragma unroll
  for (int k = 0; k < LU_TILE; k++) block[k][lane] = x[k];
}
} // namespace

} // namespace sparsegpu::lu
