/// The row sum of blocks, for every kernel that walks their rows.
#pragma once

#include "device/batched.cuh"
#include "device/load.cuh"
#include "mat/formats/codec/values.cuh"
#include "mat/formats/bsr/bsr.hpp"

namespace sparsegpu::formats
{

/// The sum of row t of a slice that has it; x(j): what an entry of column j is multiplied with. All loads of a full
/// block are made before its first product.
template <int size, class Values, class X>
__device__ __forceinline__ auto bsr_row_sum(const BsrLayout &A, PetscInt slice, int t, const Values &a, const X &x)
{
  using Sum             = std::decay_t<decltype(x(PetscInt(0)))>;
  constexpr int  HEIGHT = BsrLayout::HEIGHT, ROWS = HEIGHT * size;
  const int      node = t / size, p = t % size;
  const PetscInt end  = A.begin[slice + 1];
  PetscInt       k    = A.begin[slice];
  PetscInt       next = k < end ? load_stream(A.j + k * HEIGHT + node) : BsrLayout::NONE;
  Sum            sum  = {};

  while (next != BsrLayout::NONE) {
    const PetscInt j = next, first = k * size * ROWS + t;
    k++;
    next = k < end ? load_stream(A.j + k * HEIGHT + node) : BsrLayout::NONE;
    if (j >= 0) {
      Scalar v[size];
      Sum    u[size];
#pragma unroll
      for (int q = 0; q < size; q++) {
        v[q] = load_one(a, first + q * ROWS);
        u[q] = x(j * size + q);
      }
#pragma unroll
      for (int q = 0; q < size; q++) add_product(sum, v[q], u[q]);
    } else {
      const unsigned long long mask   = A.partial_mask[-2 - j] >> (p * size);
      const PetscInt           column = A.partial_column[-2 - j] * size;
#pragma unroll
      for (int q = 0; q < size; q++)
        if (mask >> q & 1) add_product(sum, load_one(a, first + q * ROWS), x(column + q));
    }
  }
  return sum;
}

} // namespace sparsegpu::formats
