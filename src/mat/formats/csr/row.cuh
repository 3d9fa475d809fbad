/// The row sums of compressed sparse rows, for every kernel that walks its rows.
#pragma once

#include <type_traits>
#include "device/batched.cuh"
#include "device/load.cuh"
#include "mat/formats/chunk.cuh"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// The partial sum of thread `lane`, of `width` neighbouring threads that share a row, over every width-th entry of
/// begin .. end - 1. Neighbouring threads read neighbouring entries; x is gathered. ready() is called between the first
/// columns and all else. group_sum() then has the row's sum.
template <int width, class Ready> __device__ __forceinline__ Scalar csr_lane_sum(const CsrLayout &A, PetscInt begin,
                                                                                 PetscInt end, int lane,
                                                                                 const Scalar *x, Ready ready)
{
  return batched_sum<4>( // cached: a line serves several turns
      begin + lane, end, width, [&](PetscInt e) { return A.a[e]; }, [&](PetscInt e) { return A.j[e]; }, Gather{x},
      ready);
}

/// launch(width) with the width, 1 to 32 threads of a row, as a constant.
template <class Launch> PetscErrorCode WithRowWidth(PetscInt width, Launch launch)
{
  PetscFunctionBegin;
  switch (width) {
  case 1: PetscCall(launch(std::integral_constant<int, 1>())); break;
  case 2: PetscCall(launch(std::integral_constant<int, 2>())); break;
  case 4: PetscCall(launch(std::integral_constant<int, 4>())); break;
  case 8: PetscCall(launch(std::integral_constant<int, 8>())); break;
  case 16: PetscCall(launch(std::integral_constant<int, 16>())); break;
  default: PetscCall(launch(std::integral_constant<int, 32>()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Chunk `number` of the matrix.
__device__ __forceinline__ RowChunk csr_chunk(const CsrLayout &A, PetscInt number)
{
  const PetscInt row = A.chunk_row[number], row_end = A.i[row + 1], begin = A.chunk_begin[number];
  return row_chunk<CsrLayout::CHUNK>(number, row, begin, A.i[row], row_end);
}

/// What a thread of a block of `threads` adds up of a chunk, for add_chunks(). ready() as above.
template <int threads, class Ready>
__device__ __forceinline__ Scalar csr_chunk_sum(const CsrLayout &A, const RowChunk &chunk, const Scalar *x, Ready ready)
{
  return batched_sum<CsrLayout::CHUNK / threads>(
      chunk.begin + static_cast<PetscInt>(threadIdx.x), chunk.end, threads,
      [&](PetscInt e) { return load_stream(A.a + e); }, [&](PetscInt e) { return load_stream(A.j + e); }, Gather{x},
      ready);
}

} // namespace sparsegpu::formats
