#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "mat/formats/ell/ell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// z = A x + y, one thread per row. Neighbouring threads read neighbouring j and a; x is gathered. Bitwise
/// reproducible.
static __global__ void ell_kernel(EllLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt row = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;
  Scalar         sum(0);

  if (row >= A.rows) return;
#pragma unroll 4
  for (PetscInt k = 0; k < A.width; k++) {
    const PetscInt e = k * A.pitch + row, column = load_stream(A.j + e);
    if (column >= 0) sum += load_stream(A.a + e) * x[column];
  }
  z[row] = y ? y[row] + sum : sum;
}

PetscErrorCode EllMult_CUDA(const EllLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr int threads = 256; // any multiple of 32

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  ell_kernel<<<static_cast<unsigned>((A.rows + threads - 1) / threads), threads, 0,
               static_cast<cudaStream_t>(stream)>>>(A, x, y, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
