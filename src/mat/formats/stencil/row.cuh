/// The row sums of a stencil, for every kernel that walks its rows.
#pragma once

#include "device/batched.cuh"
#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu::formats
{

/// The sum of a row of class c, `batch` entries at a time; at: x at the row's own column, a pointer or a Difference.
/// ready() is called before x is read.
template <int batch, class Vector, class Ready>
__device__ __forceinline__ Scalar stencil_row_sum(const StencilLayout &A, int c, const Vector &at, Ready ready)
{
  return batched_sum<batch>(
      A.begin[c], A.begin[c + 1], 1, [&](PetscInt e) { return A.value[e]; }, [&](PetscInt e) { return A.offset[e]; },
      [&](PetscInt offset) { return at[offset]; }, ready);
}

/// Adds to sum[k] row k of `steps` rows of class c that are `stride` apart, `batch` entries at a time; at: x at the
/// first row's own column.
template <int steps, int batch, class Vector>
__device__ __forceinline__ void stencil_rows_sum(const StencilLayout &A, int c, const Vector &at, PetscInt stride,
                                                 Scalar (&sum)[steps])
{
  const PetscInt end = A.begin[c + 1];

  for (PetscInt e = A.begin[c]; e < end; e += batch) {
    Scalar u[batch][steps], value[batch];
#pragma unroll
    for (int q = 0; q < batch; q++) {
      const auto place = at + (q < end - e ? A.offset[e + q] : 0);
#pragma unroll
      for (int k = 0; k < steps; k++) u[q][k] = q < end - e ? place[k * stride] : Scalar(0);
    }
#pragma unroll
    for (int q = 0; q < batch; q++) value[q] = q < end - e ? A.value[e + q] : Scalar(0);
#pragma unroll
    for (int q = 0; q < batch; q++)
#pragma unroll
      for (int k = 0; k < steps; k++)
        if (q < end - e) sum[k] += value[q] * u[q][k];
  }
}

} // namespace sparsegpu::formats
