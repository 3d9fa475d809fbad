/// The product on a GPU.
#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "mat/formats/jds/jds.hpp"

namespace sparsegpu
{

/// z = A x + y, one thread per row. Neighbouring threads read neighbouring j and a; x is gathered, z scattered. Bitwise
/// reproducible.
static __global__ void jds_kernel(JdsLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt p = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;
  Scalar         sum(0);

  if (p >= A.rows) return;
  for (PetscInt k = 0; k < A.diagonals && p < A.start[k + 1] - A.start[k]; k++) {
    const PetscInt e = A.start[k] + p;
    sum += load_stream(A.a + e) * x[load_stream(A.j + e)];
  }
  const PetscInt r = A.row[p];
  z[r]             = y ? y[r] + sum : sum;
}

PetscErrorCode JdsMult_CUDA(const JdsLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr int threads = 256; // any multiple of 32

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  jds_kernel<<<static_cast<unsigned>((A.rows + threads - 1) / threads), threads, 0,
               static_cast<cudaStream_t>(stream)>>>(A, x, y, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
