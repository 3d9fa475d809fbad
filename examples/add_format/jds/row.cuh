/// The row sum of jagged diagonals, for every kernel that walks the rows.
#pragma once

#include "device/load.cuh"
#include "mat/formats/jds/jds.hpp"

namespace sparsegpu::formats
{

/// The row at place p of A x, by one thread. Neighbouring threads with neighbouring places read neighbouring j and a.
__device__ __forceinline__ Scalar jds_row_sum(const JdsLayout &A, PetscInt p, const Scalar *x)
{
  Scalar sum(0);

  for (PetscInt k = 0; k < A.diagonals && p < A.start[k + 1] - A.start[k]; k++) {
    const PetscInt e = A.start[k] + p;
    sum += load_stream(A.a + e) * x[load_stream(A.j + e)];
  }
  return sum;
}

} // namespace sparsegpu::formats
