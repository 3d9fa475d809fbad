/// stencil times several columns. The matrix is almost no traffic: X should come through the caches once, and each read
/// of the table should serve many products. X is read by columns, as it is stored: neighbouring rows have neighbouring
/// columns.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

namespace
{
/// A thread has STEPS rows, `stride` apart, where that is the way from a line or a plane of a grid to the next: see
/// stencil.cu. Otherwise it has one.
struct Steps {
  static constexpr int STEPS = 3;

  PetscInt stride; ///< 0: one row per thread
  PetscInt chunks; ///< blocks for rows 0 .. stride - 1
};
} // namespace

/// sum[k][c] of the rows r, r + stride, ... for the columns of d, which all have class `kind`.
template <int columns, int steps>
__device__ __forceinline__ void stencil_sums(const StencilLayout &A, int kind, PetscCount r, PetscInt stride,
                                             const DenseColumns &d, Scalar (&sum)[steps][columns])
{
  constexpr int        FIT   = 128 / static_cast<int>(sizeof(Scalar)) / (columns * steps);
  constexpr int        BATCH = FIT < 1 ? 1 : FIT > 4 ? 4 : FIT; // entries whose loads are on their way together
  const std::ptrdiff_t ldx   = d.ldx;
  const PetscInt       end   = A.begin[kind + 1];

  for (PetscInt e = A.begin[kind]; e < end; e += BATCH) {
    Scalar u[BATCH][steps][columns];
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const bool    there = b < end - e;
      const Scalar *at    = d.x + r + (there ? A.offset[e + b] : 0);
#pragma unroll
      for (int k = 0; k < steps; k++)
#pragma unroll
        for (int c = 0; c < columns; c++)
          u[b][k][c] = there ? at[c * ldx + static_cast<std::ptrdiff_t>(k) * stride] : Scalar(0);
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      if (b >= end - e) continue;
      const Scalar value = A.value[e + b];
#pragma unroll
      for (int k = 0; k < steps; k++)
#pragma unroll
        for (int c = 0; c < columns; c++) sum[k][c] += value * u[b][k][c];
    }
  }
}

template <int columns>
__device__ __forceinline__ void stencil_store(PetscCount r, const DenseColumns &d, const Scalar (&sum)[columns])
{
#pragma unroll
  for (int c = 0; c < columns; c++) d.z[static_cast<std::ptrdiff_t>(c) * d.ldz + r] = sum[c];
}

/// Neighbouring threads mostly have one class: they read the same table entry, from L1, and neighbouring x. Bitwise
/// reproducible, and the bits of a product with one column.
template <int columns, int steps> static __global__ void __launch_bounds__(THREADS, 3)
    stencil_many_kernel(StencilLayout A, Steps walk, DenseColumns d)
{
  const PetscInt chunk =
      steps == 1 ? static_cast<PetscInt>(blockIdx.x) : static_cast<PetscInt>(blockIdx.x) % walk.chunks;
  const PetscCount first = static_cast<PetscCount>(chunk) * THREADS + threadIdx.x;
  const PetscCount row =
      steps == 1 ? first : static_cast<PetscCount>(blockIdx.x / walk.chunks) * steps * walk.stride + first;
  int  kind[steps];
  bool alike = true;

#pragma unroll
  for (int k = 0; k < steps; k++) {
    const PetscCount r = row + static_cast<PetscCount>(k) * walk.stride;
    kind[k]            = (steps == 1 || first < walk.stride) && r < A.rows ? load_stream(A.row_class + r) : -1;
    alike              = alike && kind[k] == kind[0];
  }
  if (kind[0] < 0) return;
  if (alike) {
    Scalar sum[steps][columns] = {};
    stencil_sums<columns, steps>(A, kind[0], row, walk.stride, d, sum);
#pragma unroll
    for (int k = 0; k < steps; k++) stencil_store<columns>(row + static_cast<PetscCount>(k) * walk.stride, d, sum[k]);
    return;
  }
#pragma unroll 1
  for (PetscCount r = row, k = 0; k < steps && r < A.rows; r += walk.stride, k++) {
    Scalar sum[1][columns] = {};
    stencil_sums<columns, 1>(A, A.row_class[r], r, 0, d, sum);
    stencil_store<columns>(r, d, sum[0]);
  }
}

template <int columns, int steps>
static PetscErrorCode Launch(const StencilLayout &A, const Steps &walk, const DenseColumns &d, cudaStream_t stream)
{
  const PetscCount blocks =
      steps == 1
          ? (static_cast<PetscCount>(A.rows) - 1) / THREADS + 1
          : ((static_cast<PetscCount>(A.rows) - 1) / (static_cast<PetscCount>(steps) * walk.stride) + 1) * walk.chunks;

  PetscFunctionBegin;
  stencil_many_kernel<columns, steps><<<static_cast<unsigned>(blocks), THREADS, 0, stream>>>(A, walk, d);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMultDense_CUDA(const StencilLayout &A, const DenseColumns &d, Stream stream)
{
  constexpr int      STEPS = Steps::STEPS;
  constexpr int      MOST = sizeof(Scalar) > 8 ? 4 : 8, HALF = MOST / 2; // columns: what registers hold
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscInt           multiprocessors;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (A.lines) {                                       // which walks, so that it reads x once
    for (PetscInt c = 0; c < d.count; c++) PetscCall(StencilMult_CUDA(A, d.X(c), {nullptr, d.Z(c)}, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const bool  walks = A.stride > 0 && A.rows >= StencilRowsToWalk(multiprocessors) && A.rows / (2 * STEPS) >= A.stride;
  const Steps walk{walks ? A.stride : 0, walks ? (A.stride - 1) / THREADS + 1 : 0};
  for (PetscInt c = 0, taken; c < d.count; c += taken) {
    const PetscInt left     = d.count - c;
    taken                   = left >= MOST && !walks ? MOST : left >= HALF ? HALF : left >= 2 ? 2 : 1;
    const DenseColumns part = d.Part(c, taken);
    if (taken == 1)
      PetscCall(StencilMult_CUDA(A, part.x, {nullptr, part.z}, stream));
    else if (taken == MOST)
      PetscCall((Launch<MOST, 1>(A, walk, part, s)));
    else if (taken == HALF)
      PetscCall((walks ? Launch<HALF, STEPS>(A, walk, part, s) : Launch<HALF, 1>(A, walk, part, s)));
    else
      PetscCall((walks ? Launch<2, STEPS>(A, walk, part, s) : Launch<2, 1>(A, walk, part, s)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
