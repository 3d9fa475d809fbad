#include "device/batched.cuh"
#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "device/load.cuh"
#include "device/row_of_thread.hpp"
#include "device/segmented.cuh"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

/// One chunk of a long row by one thread block. Each block leaves its sum and counts itself in; the last one to arrive
/// adds the sums of all chunks in their order, so the result does not depend on who is last.
__device__ __forceinline__ void csr_chunk(const CsrLayout &A, PetscInt chunk, const Scalar *x, const Scalar *y,
                                          Scalar *z)
{
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   last;
  const PetscInt    row = A.chunk_row[chunk], row_end = A.i[row + 1], begin = A.chunk_begin[chunk];
  const PetscInt    end    = begin + CsrLayout::CHUNK < row_end ? begin + CsrLayout::CHUNK : row_end;
  const PetscInt    first  = chunk - (begin - A.i[row]) / CsrLayout::CHUNK;
  const PetscInt    chunks = (row_end - A.i[row] + CsrLayout::CHUNK - 1) / CsrLayout::CHUNK;
  Scalar            sum    = batched_sum<CsrLayout::CHUNK / THREADS>(
      begin + static_cast<PetscInt>(threadIdx.x), end, THREADS, [&](PetscInt e) { return load_stream(A.a + e); },
      [&](PetscInt e) { return load_stream(A.j + e); }, [&](PetscInt j) { return x[j]; }, [] { begin_in_turn(); });

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
  if (threadIdx.x == 0) z[row] = y ? y[row] + sum : sum;
}

/// z = A x + y. The first blocks take a chunk of a long row each; in the others `width` neighbouring threads share a
/// row and read neighbouring entries; x is gathered. Bitwise reproducible. Starts while the kernel before it ends, as
/// only values and vectors may come from there.
template <int width> static __global__ void __launch_bounds__(THREADS)
    csr_kernel(CsrLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  if (blockIdx.x < A.chunks) {
    csr_chunk(A, blockIdx.x, x, y, z);
    return;
  }
  const PetscInt row   = row_of_thread<THREADS, width>(static_cast<PetscInt>(blockIdx.x - A.chunks), threadIdx.x);
  const int      lane  = threadIdx.x % width;
  PetscInt       begin = 0, end = 0;
  bool           mine = row < A.rows;
  Scalar         sum(0);

  if (mine) {
    begin = A.i[row];
    end   = A.i[row + 1];
    mine  = end - begin <= A.long_length;
  }
  if (mine) // cached: a line serves several turns
    sum = batched_sum<4>(
        begin + lane, end, width, [&](PetscInt e) { return A.a[e]; }, [&](PetscInt e) { return A.j[e]; },
        [&](PetscInt j) { return x[j]; }, [] { begin_in_turn(); });
  else
    begin_in_turn();
  sum = group_sum<width>(sum);
  if (mine && lane == 0) z[row] = y ? y[row] + sum : sum;
}

template <int width>
static PetscErrorCode Launch(const CsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, cudaStream_t stream)
{
  constexpr int rows_per_block = THREADS / width;

  PetscFunctionBegin;
  PetscCall(LaunchEarly<csr_kernel<width>>(A.chunks + (A.rows + rows_per_block - 1) / rows_per_block, THREADS, stream,
                                           A, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrMult_CUDA(const CsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  switch (A.width) {
  case 1: PetscCall(Launch<1>(A, x, y, z, s)); break;
  case 2: PetscCall(Launch<2>(A, x, y, z, s)); break;
  case 4: PetscCall(Launch<4>(A, x, y, z, s)); break;
  case 8: PetscCall(Launch<8>(A, x, y, z, s)); break;
  case 16: PetscCall(Launch<16>(A, x, y, z, s)); break;
  default: PetscCall(Launch<32>(A, x, y, z, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
