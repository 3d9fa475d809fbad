/// bsr times several columns: `lanes` neighbouring lanes share a row.
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/codec/values.cuh"
#include "mat/formats/many.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// The sums of row t of a slice for the columns of a lane, as bsr_row_sum() for one column: the same entries in the
/// same order. x: the lane's piece of row 0.
template <int size, int lanes, class Values>
__device__ __forceinline__ DensePiece bsr_rows(const BsrLayout &A, PetscInt slice, int t, const Values &a,
                                               const DensePiece *x)
{
  constexpr int  HEIGHT = BsrLayout::HEIGHT, ROWS = HEIGHT * size;
  const int      node = t / size, p = t % size;
  const PetscInt end  = A.begin[slice + 1];
  PetscInt       k    = A.begin[slice];
  PetscInt       next = k < end ? load_stream(A.j + k * HEIGHT + node) : BsrLayout::NONE;
  DensePiece     sum  = {};

  while (next != BsrLayout::NONE) {
    const PetscInt j = next, first = k * size * ROWS + t;
    k++;
    next = k < end ? load_stream(A.j + k * HEIGHT + node) : BsrLayout::NONE;
    if (j >= 0) {
      Scalar     v[size];
      DensePiece u[size];
#pragma unroll
      for (int q = 0; q < size; q++) {
        v[q] = load_one(a, first + q * ROWS);
        u[q] = piece_of<lanes>(x, j * size + q);
      }
#pragma unroll
      for (int q = 0; q < size; q++) add_product(sum, v[q], u[q]);
    } else {
      const unsigned long long mask   = A.partial_mask[-2 - j] >> (p * size);
      const PetscInt           column = A.partial_column[-2 - j] * size;
#pragma unroll
      for (int q = 0; q < size; q++)
        if (mask >> q & 1) add_product(sum, load_one(a, first + q * ROWS), piece_of<lanes>(x, column + q));
    }
  }
  return sum;
}

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
  d.Store(row, q, bsr_rows<size, lanes>(A, slice, static_cast<int>(row % ROWS), a, d.x + q));
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
  PetscCall(MultGroups(cols, 0, d, scratch, s, multiply,
                       [&](const Scalar *x, Scalar *z) { return BsrMult_CUDA(A, a, x, nullptr, z, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
