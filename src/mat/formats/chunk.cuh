/// Rows too long for one warp are cut into chunks of entries, and each chunk is added up by a thread block.
#pragma once

#include "device/load.cuh"
#include "device/segmented.cuh"

namespace sparsegpu::formats
{

struct RowChunk {
  PetscInt row;           ///< of the matrix, or of the format's list of long rows
  PetscInt begin, end;    ///< entries begin .. end - 1
  PetscInt first, chunks; ///< the row's first chunk, and how many the row has
};

/// Chunk `number` of a matrix: the at most LENGTH entries from `begin` on of a row with the entries row_begin ..
/// row_end - 1.
template <PetscInt LENGTH> __device__ __forceinline__ RowChunk row_chunk(PetscInt number, PetscInt row, PetscInt begin,
                                                                         PetscInt row_begin, PetscInt row_end)
{
  return RowChunk{row, begin, begin + LENGTH < row_end ? begin + LENGTH : row_end,
                  number - (begin - row_begin) / LENGTH, (row_end - row_begin + LENGTH - 1) / LENGTH};
}

/// done(the row's sum) by one thread, of the last block to arrive of those that share the row. sum: this
/// thread's part of chunk `number`, the chunk of its block. Each block stores its sum and counts itself in; the last
/// one adds the sums of all chunks in their order, so the result does not depend on which is last. All `threads`
/// threads of the block must call. chunk_sum [chunks of the matrix] is scratch, and so is arrived [chunks], zero before
/// and after.
template <int threads, class Done> __device__ __forceinline__ void add_chunks(const RowChunk &chunk, PetscInt number,
                                                                              Scalar sum, Scalar *chunk_sum,
                                                                              int *arrived, Done done)
{
  __shared__ Scalar warps[threads / 32];
  __shared__ bool   last;

  sum = block_sum<threads>(sum, warps);
  if (chunk.chunks > 1) {
    if (threadIdx.x == 0) {
      chunk_sum[number] = sum;
      __threadfence();
      last = atomicAdd(arrived + chunk.first, 1) == chunk.chunks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = Scalar(0);
    for (PetscInt c = threadIdx.x; c < chunk.chunks; c += threads) sum += load_shared(chunk_sum + chunk.first + c);
    sum = block_sum<threads>(sum, warps);
    if (threadIdx.x == 0) arrived[chunk.first] = 0;
  }
  if (threadIdx.x == 0) done(sum);
}

} // namespace sparsegpu::formats
