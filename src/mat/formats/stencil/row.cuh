/// What a thread adds up of a row, for every kernel that walks rows of a stencil.
#pragma once

#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu
{

/// The sum of a row of class c; at: x at the row's own column.
__device__ __forceinline__ Scalar stencil_row_sum(const StencilLayout &A, int c, const Scalar *at)
{
  const PetscInt end = A.begin[c + 1];
  Scalar         sum(0);
#pragma unroll 4
  for (PetscInt e = A.begin[c]; e < end; e++) sum += A.value[e] * at[A.offset[e]];
  return sum;
}

} // namespace sparsegpu
