/// What a thread adds up of a row, for every kernel that walks rows of a stencil.
#pragma once

#include "device/batched.cuh"
#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu
{

/// The sum of a row of class c, `batch` entries at a time; at: x at the row's own column. ready() is called before x is
/// looked at.
template <int batch, class Ready>
__device__ __forceinline__ Scalar stencil_row_sum(const StencilLayout &A, int c, const Scalar *at, Ready ready)
{
  return batched_sum<batch>(
      A.begin[c], A.begin[c + 1], 1, [&](PetscInt e) { return A.value[e]; }, [&](PetscInt e) { return A.offset[e]; },
      [&](PetscInt offset) { return at[offset]; }, ready);
}

} // namespace sparsegpu
