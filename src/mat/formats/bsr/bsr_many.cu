/// bsr times several columns: `lanes` neighbouring lanes share a row.
#include "mat/formats/bsr/row.cuh"
#include "mat/formats/many.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// Neighbouring rows read neighbouring values; the rows of a block row read the same column and the same row of X.
/// Bitwise reproducible, whatever the codec, and the bits of a product with one column.
template <int size, int lanes, class Values> static __global__ void __launch_bounds__(THREADS)
    bsr_many_kernel(BsrLayout A, Values stored, DenseRows d)
{
  constexpr int  ROWS = BsrLayout::HEIGHT * size; ///< of a slice
  const Values   a    = stage(stored);
  const PetscInt row = static_cast<PetscInt>(thread_index() / lanes), slice = row / ROWS;
  const int      q = static_cast<int>(threadIdx.x) % lanes;

  if (row >= A.rows) return;
  d.Store(row, q, bsr_row_sum<size>(A, slice, static_cast<int>(row % ROWS), a, GatherRows<lanes>{d.x + q}));
}

PetscErrorCode BsrMultDense_CUDA(const BsrLayout &A, const ValueLayout &a, PetscInt cols, const DenseColumns &d,
                                 DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const auto multiply = [&](auto lanes, const DenseRows &rows) -> PetscErrorCode {
    constexpr int  LANES  = decltype(lanes)::value;
    const unsigned blocks = Blocks(static_cast<PetscCount>(A.rows) * LANES);

    PetscFunctionBegin;
    WithValues(a, [&](const auto &values) {
      WithBsrSize(A.size, [&](auto size) {
        bsr_many_kernel<decltype(size)::value, LANES><<<blocks, THREADS, 0, s>>>(A, values, rows);
      });
    });
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MultGroups(cols, 0, d, scratch, s, multiply, [&](const Scalar *x, Scalar *z) {
    return BsrMult_CUDA(A, a, x, {nullptr, z}, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
