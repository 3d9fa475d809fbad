/// The row sum of ELLPACK, for every kernel that walks its rows.
#pragma once

#include "device/load.cuh"
#include "mat/formats/ell/ell.hpp"

namespace sparsegpu::formats
{

/// Row `row` of A x, by one thread. Neighbouring threads with neighbouring rows read neighbouring j and a; x is
/// gathered.
__device__ __forceinline__ Scalar ell_row_sum(const EllLayout &A, PetscInt row, const Scalar *x)
{
  Scalar sum(0);

#pragma unroll 4
  for (PetscInt k = 0; k < A.width; k++) {
    const PetscInt e = k * A.pitch + row, column = load_stream(A.j + e);
    if (column >= 0) sum += load_stream(A.a + e) * x[column];
  }
  return sum;
}

} // namespace sparsegpu::formats
