/// What a thread adds up of a row, for every kernel that walks rows of a stencil.
#pragma once

#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu
{

/// Value and offset of a table entry in as few loads as there are: a product's time goes into loads from L1.
__device__ __forceinline__ StencilEntry load_entry(const StencilEntry *p)
{
#if !defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_64BIT_INDICES)
  const int4 v = __ldg(reinterpret_cast<const int4 *>(p));
  return StencilEntry{__hiloint2double(v.y, v.x), v.z};
#else
  return *p;
#endif
}

/// The sum of a row of class c; at: x at the row's own column.
__device__ __forceinline__ Scalar stencil_row_sum(const StencilLayout &A, int c, const Scalar *at)
{
  const PetscInt end = A.begin[c + 1];
  Scalar         sum(0);
#pragma unroll 4
  for (PetscInt e = A.begin[c]; e < end; e++) {
    const StencilEntry t = load_entry(A.entry + e);
    sum += t.value * at[t.offset];
  }
  return sum;
}

} // namespace sparsegpu
