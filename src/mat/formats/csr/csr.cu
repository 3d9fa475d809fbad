#include "device/carry.hpp"
#include "device/cuda_check.hpp"
#include "device/segmented.cuh"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// z = A x + y but for long rows, which get y alone. `width` neighbouring threads share a row and read neighbouring
/// entries; x is gathered. Bitwise reproducible.
template <int width> static __global__ void csr_kernel(CsrLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt row  = (static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x) / width;
  const int      lane = threadIdx.x % width;
  Scalar         sum(0);

  if (row < A.rows) {
    const PetscInt begin = A.i[row], end = A.i[row + 1];
    if (end - begin <= A.long_length) {
#pragma unroll 4
      for (PetscInt e = begin + lane; e < end; e += width) sum += A.a[e] * x[A.j[e]];
    }
  }
  sum = group_sum<width>(sum);
  if (row < A.rows && lane == 0) z[row] = y ? y[row] + sum : sum;
}

static constexpr int CHUNK_THREADS = 128;

/// chunk_sum = the chunk's part of its row; one thread block per chunk. Bitwise reproducible.
static __global__ void csr_chunk_kernel(CsrLayout A, const Scalar *x)
{
  __shared__ Scalar warps[CHUNK_THREADS / 32];
  const PetscInt    chunk = blockIdx.x, begin = A.chunk_begin[chunk], row_end = A.i[A.chunk_row[chunk] + 1];
  const PetscInt    end = begin + CsrLayout::CHUNK < row_end ? begin + CsrLayout::CHUNK : row_end;
  Scalar            sum(0);

#pragma unroll 4
  for (PetscInt e = begin + threadIdx.x; e < end; e += CHUNK_THREADS) sum += A.a[e] * x[A.j[e]];
  sum = group_sum<32>(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < CHUNK_THREADS / 32; w++) sum += warps[w];
    A.chunk_sum[chunk] = sum;
  }
}

template <int width> static void Launch(const CsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, cudaStream_t stream)
{
  constexpr int rows_per_block = 256 / width;
  csr_kernel<width><<<static_cast<unsigned>((A.rows + rows_per_block - 1) / rows_per_block), 256, 0, stream>>>(A, x, y, z);
}

PetscErrorCode CsrMult_CUDA(const CsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  switch (A.width) {
  case 1: Launch<1>(A, x, y, z, s); break;
  case 2: Launch<2>(A, x, y, z, s); break;
  case 4: Launch<4>(A, x, y, z, s); break;
  case 8: Launch<8>(A, x, y, z, s); break;
  case 16: Launch<16>(A, x, y, z, s); break;
  default: Launch<32>(A, x, y, z, s);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  if (A.chunks) {
    csr_chunk_kernel<<<static_cast<unsigned>(A.chunks), CHUNK_THREADS, 0, s>>>(A, x);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(AddCarries_CUDA(A.chunks, A.chunk_row, A.chunk_sum, z, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
