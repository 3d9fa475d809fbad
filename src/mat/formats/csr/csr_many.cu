/// csr times several columns: the threads of a row are `ways` groups of lanes, each of which walks every ways-th entry.
#include "device/row_of_thread.hpp"
#include "mat/formats/csr/row.cuh"
#include "mat/formats/many.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

namespace
{
struct CsrChunks {
  CsrLayout A;

  __device__ __forceinline__ RowChunk operator()(PetscInt number) const { return csr_chunk(A, number); }
};
} // namespace

/// The first blocks take a chunk of a long row each; in the others ways * lanes neighbouring threads share a row and
/// read neighbouring entries. Bitwise reproducible; with one way, the bits of a product with one column of one thread
/// per row.
template <int lanes, int ways> static __global__ void __launch_bounds__(THREADS, 4)
    csr_many_kernel(CsrLayout A, DenseRows d)
{
  constexpr int width  = lanes * ways;
  const auto    value  = [&](PetscInt e) { return A.a[e]; }; // cached: a line serves several turns
  const auto    column = [&](PetscInt e) { return A.j[e]; };

  if (blockIdx.x < A.chunks) {
    dense_chunk<lanes>(csr_chunk(A, blockIdx.x), blockIdx.x, d, value, column);
    return;
  }
  const PetscInt row = row_of_thread<THREADS, width>(static_cast<PetscInt>(blockIdx.x - A.chunks), threadIdx.x);
  const int      way = static_cast<int>(threadIdx.x % width) / lanes, q = static_cast<int>(threadIdx.x) % lanes;
  PetscInt       begin = 0, end = 0;
  bool           mine = row < A.rows;
  DensePiece     sum  = {};

  if (mine) {
    begin = A.i[row];
    end   = A.i[row + 1];
    mine  = end - begin <= A.long_length;
  }
  if (mine) sum = batched_sum<4>(begin + way, end, ways, value, column, GatherRows<lanes>{d.x + q});
  sum_ways<lanes, ways>(sum);
  if (mine && way == 0) d.Store(row, q, sum);
}

template <int lanes, int ways> static PetscErrorCode Launch(const CsrLayout &A, const DenseRows &d, cudaStream_t stream)
{
  constexpr int  rows_per_block = THREADS / (lanes * ways);
  const PetscInt blocks         = A.chunks + (A.rows - 1) / rows_per_block + 1;

  PetscFunctionBegin;
  csr_many_kernel<lanes, ways><<<static_cast<unsigned>(blocks), THREADS, 0, stream>>>(A, d);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(AddChunks<lanes>(CsrChunks{A}, A.chunks, d, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As many ways as leave each about seven entries; one where one column has one thread per row.
PetscErrorCode CsrMultDense_CUDA(const CsrLayout &A, PetscInt cols, const DenseColumns &d, DeviceMemory *scratch,
                                 Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(MultGroups(
      cols, A.chunks, d, scratch, s,
      [&](auto lanes, const DenseRows &rows) {
        constexpr int LANES = decltype(lanes)::value, MOST = 32 / LANES;
        switch (A.width) {
        case 1:
        case 2: return Launch<LANES, 1>(A, rows, s);
        case 4: return Launch<LANES, 2>(A, rows, s);
        case 8:
        case 16: return Launch<LANES, 4>(A, rows, s);
        default: return Launch<LANES, (MOST < 8 ? MOST : 8)>(A, rows, s);
        }
      },
      [&](const Scalar *x, Scalar *z) {
        return CsrMult_CUDA(A, x, {nullptr, z}, stream);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
