/// dia times several columns. Neighbouring rows have neighbouring columns here: X is read as it lies, by columns.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/formats/dia/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int COLUMNS = 64 / sizeof(Scalar) < 8 ? 64 / sizeof(Scalar) : 8; ///< at a time: what registers hold

/// One thread per row, with a sum for each of the `columns` columns; the list of diagonals is read once per block.
/// Neighbouring threads read neighbouring a and, in each column, neighbouring x, most of which its L1 cache has from
/// the diagonals before. Bitwise reproducible, and the bits of a product with one column.
template <int columns, bool halved, class Values> static __global__ void __launch_bounds__(THREADS, columns > 4 ? 3 : 4)
    dia_many_kernel(DiaLayout A, Values values, DenseColumns d)
{
  constexpr int        FIT   = 128 / static_cast<int>(sizeof(Scalar)) / columns;
  constexpr int        BATCH = FIT < 1 ? 1 : FIT > 4 ? 4 : FIT; // diagonals whose loads are on their way together
  __shared__ Diagonal  diagonal[THREADS];
  const PetscCount     row = thread_index();
  const std::ptrdiff_t ldx = d.ldx, ldz = d.ldz;
  Scalar               sum[columns] = {};

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
  if (row >= A.rows) return;
#pragma unroll
  for (int c = 0; c < columns; c++) d.z[c * ldz + row] = sum[c];
}

/// For d.count columns, from 2 to `columns`.
template <int columns> static void Launch(const DiaLayout &A, const DenseColumns &d, cudaStream_t stream)
{
  if constexpr (columns > 2) {
    if (d.count < columns) {
      Launch<columns - 1>(A, d, stream);
      return;
    }
  }
  const auto launch = [&](auto halved, const auto &values) {
    dia_many_kernel<columns, decltype(halved)::value><<<Blocks(A.rows), THREADS, 0, stream>>>(A, values, d);
  };
  WithDiaValues(A, launch);
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
      Launch<COLUMNS>(A, part, static_cast<cudaStream_t>(stream));
      SparseGPUCallCUDA(cudaPeekAtLastError());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
