#include "device/cuda_check.hpp"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

/// One chunk of a very long row by one thread block, as in csr.
template <class Values> __device__ __forceinline__ void sell_chunk(const SellLayout &A, PetscInt chunk, const Values &a,
                                                                   const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   last;
  const PetscInt    l = A.chunk_row[chunk], row_begin = A.long_begin[l], row_end = A.long_begin[l + 1];
  const PetscInt    begin  = A.chunk_begin[chunk];
  const PetscInt    end    = begin + SellLayout::CHUNK < row_end ? begin + SellLayout::CHUNK : row_end;
  const PetscInt    first  = chunk - (begin - row_begin) / SellLayout::CHUNK;
  const PetscInt    chunks = (row_end - row_begin + SellLayout::CHUNK - 1) / SellLayout::CHUNK;
  Scalar            sum(0);

#pragma unroll 4
  for (PetscInt e = begin + threadIdx.x; e < end; e += THREADS)
    sum += load_one(a, A.long_values + e) * x[load_stream(A.long_j + e)];
  sum = block_sum<THREADS>(sum, warps);
  if (chunks > 1) {
    if (threadIdx.x == 0) {
      A.chunk_sum[chunk] = sum;
      __threadfence();
      last = atomicAdd(A.arrived + first, 1) == chunks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = Scalar(0);
    for (PetscInt c = threadIdx.x; c < chunks; c += THREADS) sum += load_shared(A.chunk_sum + first + c);
    sum = block_sum<THREADS>(sum, warps);
    if (threadIdx.x == 0) A.arrived[first] = 0;
  }
  if (threadIdx.x == 0) {
    const PetscInt row = A.long_row[l];
    z[row]             = y ? y[row] + sum : sum;
  }
}

/// z = A x + y. The first blocks take a chunk of a very long row each, the next warps a long row each, all others a
/// slice: one thread per row, neighbouring threads read neighbouring columns and values; x is gathered. Bitwise
/// reproducible, whatever the codecs.
template <class Values> static __global__ void __launch_bounds__(THREADS)
    sell_kernel(SellLayout A, Values stored, const Scalar *x, const Scalar *y, Scalar *z)
{
  const Values a = stage(stored);
  if (blockIdx.x < A.chunks) {
    sell_chunk(A, blockIdx.x, a, x, y, z);
    return;
  }
  const PetscInt warp = (static_cast<PetscInt>(blockIdx.x - A.chunks) * THREADS + threadIdx.x) / 32;
  const int      lane = threadIdx.x % 32;
  if (warp < A.warp_rows) {
    const Scalar sum = warp_row_sum(A, warp, lane, a, x);
    if (lane == 0) {
      const PetscInt row = A.long_row[warp];
      z[row]             = y ? y[row] + sum : sum;
    }
    return;
  }
  const PetscInt s = warp - A.warp_rows, place = s * 32 + lane;
  if (s >= A.slices || place >= A.rows) return;
  const int length = place_length(A, place);
  if (length == SellLayout::NOT_HERE) return;
  const PetscInt row = place_row(A, place);
  const Scalar   sum = slice_row_sum(A, s, length, lane, a, x);
  z[row]             = y ? y[row] + sum : sum;
}

PetscErrorCode SellMult_CUDA(const SellLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z,
                             Stream stream)
{
  constexpr PetscInt WARPS = THREADS / 32;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const unsigned blocks = static_cast<unsigned>(A.chunks + (A.warp_rows + A.slices + WARPS - 1) / WARPS);
  WithValues(a, [&](const auto &values) {
    sell_kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, values, x, y, z);
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
