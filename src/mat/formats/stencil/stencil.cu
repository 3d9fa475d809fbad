#include "device/cuda_check.hpp"
#include "mat/formats/stencil/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32

/// z = A x + y, one thread per row. Neighbouring threads mostly have one class: they read the same table entry, from
/// L1, and neighbouring x. Bitwise reproducible.
static __global__ void __launch_bounds__(THREADS)
    stencil_kernel(StencilLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt row = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;

  if (row >= A.rows) return;
  const Scalar sum = stencil_row_sum(A, load_stream(A.row_class + row), x + row);
  z[row]           = y ? y[row] + sum : sum;
}

PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  stencil_kernel<<<static_cast<unsigned>((A.rows + THREADS - 1) / THREADS), THREADS, 0,
                   static_cast<cudaStream_t>(stream)>>>(A, x, y, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
