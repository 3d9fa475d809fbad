/// dia times several columns. Neighbouring rows have neighbouring columns here: X is read as it lies, by columns.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/formats/dense_dots.cuh"
#include "mat/formats/dia/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int COLUMNS = DENSE_DOTS; ///< at a time: what registers hold

namespace
{
/// The end of a product that leaves Z alone.
struct ZAlone {
};
} // namespace

/// One thread per row, with a sum for each of the `columns` columns; the list of diagonals is read once per block.
/// Neighbouring threads read neighbouring a and, in each column, neighbouring x, most of which its L1 cache has from
/// the diagonals before. Bitwise reproducible, and the bits of a product with one column. Dots: ZAlone or DenseDots.
template <int columns, bool halved, class Values, class Dots>
static __global__ void __launch_bounds__(THREADS, columns > 4 ? 3 : 4)
    dia_many_kernel(DiaLayout A, Values values, DenseColumns d, Dots dots)
{
  constexpr bool       DOT   = std::is_same<Dots, DenseDots>::value;
  constexpr int        FIT   = 128 / static_cast<int>(sizeof(Scalar)) / columns;
  constexpr int        BATCH = FIT < 1 ? 1 : FIT > 4 ? 4 : FIT; // diagonals whose loads are on their way together
  __shared__ Diagonal  diagonal[THREADS];
  const PetscCount     row = thread_index();
  const std::ptrdiff_t ldx = d.ldx, ldz = d.ldz;
  Scalar               sum[columns] = {};

  if constexpr (DOT)
    for (int c = 0; dots.y && row < A.rows && c < columns; c++) fetch_to_l2(dots.Y(c) + row);
  for (PetscInt first = 0; first < A.diagonals; first += THREADS) {
    const int count = A.diagonals - first < THREADS ? static_cast<int>(A.diagonals - first) : THREADS;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < count) diagonal[threadIdx.x] = A.diagonal[first + threadIdx.x];
    __syncthreads();
    if (row >= A.rows) continue;
    for (int k = 0; k < count; k += BATCH) {
      Scalar v[BATCH], u[BATCH][columns];
      bool   pad[BATCH];
#pragma unroll
      for (int b = 0; b < BATCH; b++) {
        const Diagonal       mine   = k + b < count ? diagonal[k + b] : Diagonal{0, 0};
        const std::ptrdiff_t column = k + b < count ? static_cast<std::ptrdiff_t>(row) + mine.offset : -1;
        const bool           there  = column >= 0 && column < A.cols;
        pad[b]                      = true;
        if (there) v[b] = dia_value<halved>(values, mine.place + static_cast<PetscInt>(row), pad + b);
#pragma unroll
        for (int c = 0; c < columns; c++) u[b][c] = there ? d.x[c * ldx + column] : Scalar(0);
      }
#pragma unroll
      for (int b = 0; b < BATCH; b++) {
        if (pad[b]) continue;
#pragma unroll
        for (int c = 0; c < columns; c++) sum[c] += v[b] * u[b][c];
      }
    }
  }
#pragma unroll
  for (int c = 0; c < columns; c++)
    if (row < A.rows) d.z[c * ldz + row] = sum[c];
  if constexpr (DOT) {
    PetscReal part[columns][DOTS] = {};
    if (row < A.rows) add_shares(d, dots, row, sum, part);
    close_columns(dots, part);
  }
}

/// For d.count columns, from 2 to `columns`; launch(columns as a type's ::value).
template <int columns, class Launch> static void WithColumns(const DenseColumns &d, Launch launch)
{
  if constexpr (columns > 2) {
    if (d.count < columns) {
      WithColumns<columns - 1>(d, launch);
      return;
    }
  }
  launch(std::integral_constant<int, columns>());
}

PetscErrorCode DiaMultDense_CUDA(const DiaLayout &A, const DenseColumns &d, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  for (PetscInt c = 0; c < d.count; c += COLUMNS) {
    const DenseColumns part = d.Part(c, d.count - c < COLUMNS ? d.count - c : COLUMNS);
    if (part.count == 1) {
      PetscCall(DiaMult_CUDA(A, part.x, {nullptr, part.z}, stream));
    } else {
      WithColumns<COLUMNS>(part, [&](auto columns) {
        WithDiaValues(A, [&](auto halved, const auto &values) {
          dia_many_kernel<decltype(columns)::value, decltype(halved)::value>
              <<<Blocks(A.rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, values, part, ZAlone());
        });
      });
      SparseGPUCallCUDA(cudaPeekAtLastError());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaMultDenseDots_CUDA(const DiaLayout &A, const DenseColumns &d, const DenseDots &dots, Stream stream)
{
  const FullValues values{static_cast<const Scalar *>(A.a.a)};
  const auto       kernel = A.halved ? dia_many_kernel<DENSE_DOTS, true, FullValues, DenseDots>
                                     : dia_many_kernel<DENSE_DOTS, false, FullValues, DenseDots>;

  PetscFunctionBegin;
  if (A.rows == 0) { // CUDA rejects an empty grid
    SparseGPUCallCUDA(cudaMemsetAsync(dots.sums, 0, static_cast<size_t>(d.count) * DOTS * sizeof(*dots.sums),
                                      static_cast<cudaStream_t>(stream)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < d.count; c += DENSE_DOTS) {
    kernel<<<Blocks(A.rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, values, d.Part(c, DENSE_DOTS),
                                                                              dots.Part(c));
    SparseGPUCallCUDA(cudaPeekAtLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
