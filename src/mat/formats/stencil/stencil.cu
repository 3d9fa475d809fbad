#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32

/// z = A x + y, ROWS rows a thread, THREADS apart, so that neighbouring threads read neighbouring x. The rows of a
/// thread mostly have one class: then an entry of the table, from L1, serves all of them. Bitwise reproducible.
template <int ROWS> static __global__ void __launch_bounds__(THREADS)
    stencil_kernel(StencilLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt first = static_cast<PetscInt>(blockIdx.x) * (ROWS * THREADS) + threadIdx.x;
  int            c[ROWS];
  Scalar         sum[ROWS];
  bool           same = true;

#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const PetscInt row = first + q * THREADS;
    c[q]               = row < A.rows ? load_stream(A.row_class + row) : -1;
    sum[q]             = Scalar(0);
    same               = same && c[q] == c[0];
  }
  if (c[0] < 0) return;
  if (same) {
    const PetscInt end = A.begin[c[0] + 1];
#pragma unroll 4
    for (PetscInt e = A.begin[c[0]]; e < end; e++) {
      const Scalar  v  = A.value[e];
      const Scalar *at = x + (first + A.offset[e]);
#pragma unroll
      for (int q = 0; q < ROWS; q++) sum[q] += v * at[q * THREADS];
    }
  } else {
#pragma unroll
    for (int q = 0; q < ROWS; q++) {
      if (c[q] < 0) continue;
      const PetscInt row = first + q * THREADS, end = A.begin[c[q] + 1];
#pragma unroll 4
      for (PetscInt e = A.begin[c[q]]; e < end; e++) sum[q] += A.value[e] * x[row + A.offset[e]];
    }
  }
#pragma unroll
  for (int q = 0; q < ROWS; q++) {
    const PetscInt row = first + q * THREADS;
    if (c[q] >= 0) z[row] = y ? y[row] + sum[q] : sum[q];
  }
}

template <int ROWS>
static PetscErrorCode Launch(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr PetscInt EACH = ROWS * THREADS;

  PetscFunctionBegin;
  stencil_kernel<ROWS>
      <<<static_cast<unsigned>((A.rows + EACH - 1) / EACH), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, x, y,
                                                                                                             z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr PetscInt MANY = 400000, SOME = 200000; // rows that fill a GPU when a thread takes four, and two

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (A.rows >= MANY)
    PetscCall(Launch<4>(A, x, y, z, stream));
  else if (A.rows >= SOME)
    PetscCall(Launch<2>(A, x, y, z, stream));
  else
    PetscCall(Launch<1>(A, x, y, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
