/// The product of ELLPACK on the GPU: one thread per row.
#include "device/cuda_check.hpp"
#include "mat/formats/dots.cuh"
#include "mat/formats/ell/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// epilogue(row, A x), one thread per row. Neighbouring threads read neighbouring j and a; x is gathered. Bitwise
/// reproducible.
template <class Epilogue> static __global__ void ell_kernel(EllLayout A, const Scalar *x, Epilogue epilogue)
{
  const PetscInt row = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (epilogue.Skip()) return;
  if (row < A.rows) epilogue(row, ell_row_sum(A, row, x));
  epilogue.Finish();
}

template <class Epilogue>
static PetscErrorCode Multiply(const EllLayout &A, const Scalar *x, const Epilogue &epilogue, Stream stream)
{
  constexpr int threads = 256; // any multiple of 32

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  ell_kernel<<<static_cast<unsigned>((A.rows + threads - 1) / threads), threads, 0,
               static_cast<cudaStream_t>(stream)>>>(A, x, epilogue);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllMult_CUDA(const EllLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                            const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream,
                      [&](const auto &epilogue) { return Multiply(A, x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllMultDots_CUDA(const EllLayout &A, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(MultiplyAndDot(A.rows, dots, stream,
                           [&](const auto &epilogue) { return Multiply(A, dots.x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
