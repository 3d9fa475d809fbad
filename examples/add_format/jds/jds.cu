/// The product on a GPU: one thread per row.
#include "device/cuda_check.hpp"
#include "mat/formats/epilogue.cuh"
#include "mat/formats/jds/row.cuh"

namespace sparsegpu::formats
{

/// epilogue(row, A x), one thread per row. Neighbouring threads read neighbouring j and a; x is gathered, and what the
/// epilogue writes is scattered. Bitwise reproducible.
template <class Epilogue> static __global__ void jds_kernel(JdsLayout A, const Scalar *x, Epilogue epilogue)
{
  const PetscInt p = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (p < A.rows) epilogue(A.row[p], jds_row_sum(A, p, x));
  epilogue.Finish();
}

PetscErrorCode JdsMult_CUDA(const JdsLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  constexpr int threads = 256; // any multiple of 32

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  jds_kernel<<<static_cast<unsigned>((A.rows + threads - 1) / threads), threads, 0,
               static_cast<cudaStream_t>(stream)>>>(A, x, StoreSum{{y, z}});
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
