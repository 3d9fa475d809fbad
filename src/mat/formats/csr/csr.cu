/// The product of compressed sparse rows on the GPU: `width` threads per row, a thread block per chunk of a long row.
#include "device/launch.cuh"
#include "device/grid.cuh"
#include "device/row_of_thread.hpp"
#include "mat/formats/csr/row.cuh"
#include "mat/formats/dots.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// epilogue(row, A x), of the rows that are not empty alone where `filled`. The first blocks take a chunk of a long row
/// each; in the others `width` neighbouring threads share a row and read neighbouring entries; x is gathered. Bitwise
/// reproducible. Starts while the kernel before it ends, as only values and vectors may come from there.
template <int width, bool filled, class Epilogue> static __global__ void __launch_bounds__(THREADS)
    csr_kernel(CsrLayout A, const Scalar *x, Epilogue epilogue)
{
  const auto ready = [] { begin_in_turn(); };

  if (epilogue.Skip()) return;
  if (blockIdx.x < A.chunks) {
    const RowChunk chunk = csr_chunk(A, blockIdx.x);
    add_chunks<THREADS>(chunk, blockIdx.x, csr_chunk_sum<THREADS>(A, chunk, x, ready), A.chunk_sum, A.arrived,
                        [&](const Scalar &sum) { epilogue(chunk.row, sum); });
    epilogue.Finish();
    return;
  }
  PetscInt  row   = row_of_thread<THREADS, width>(static_cast<PetscInt>(blockIdx.x - A.chunks), threadIdx.x);
  const int lane  = threadIdx.x % width;
  PetscInt  begin = 0, end = 0;
  bool      mine = row < (filled ? A.filled : A.rows);
  Scalar    sum(0);

  if (mine) {
    if (filled) row = A.filled_row[row];
    begin = A.i[row];
    end   = A.i[row + 1];
    mine  = end - begin <= A.long_length;
  }
  if (mine)
    sum = csr_lane_sum<width>(A, begin, end, lane, x, ready);
  else
    ready();
  sum = group_sum<width>(sum);
  if (mine && lane == 0) epilogue(row, sum);
  epilogue.Finish();
}

template <int width, bool filled, class Epilogue>
static PetscErrorCode Launch(const CsrLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  constexpr int  rows_per_block = THREADS / width;
  const PetscInt rows = filled ? A.filled : A.rows, blocks = (rows + rows_per_block - 1) / rows_per_block;

  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall((LaunchEarly<csr_kernel<width, filled, Epilogue>>(A.chunks + blocks, THREADS, stream, A, x, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool filled, class Epilogue>
static PetscErrorCode Multiply(const CsrLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(WithRowWidth(filled ? A.filled_width : A.width,
                         [&](auto width) { return Launch<decltype(width)::value, filled>(A, x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrAddFilled_CUDA(const CsrLayout &A, const Scalar *x, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Multiply<true>(A, x, StoreSum{{z, z}}, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrMult_CUDA(const CsrLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream, [&](const auto &epilogue) {
    return Multiply<false>(A, x, epilogue, static_cast<cudaStream_t>(stream));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrMultDots_CUDA(const CsrLayout &A, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(MultiplyAndDot(A.rows, dots, stream, [&](const auto &epilogue) {
    return Multiply<false>(A, dots.x, epilogue, static_cast<cudaStream_t>(stream));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
