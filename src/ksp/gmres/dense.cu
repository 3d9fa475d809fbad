#include "device/cuda_check.hpp"
#include "ksp/gmres/dense.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// See dots_body().
static __global__ void __launch_bounds__(DENSE_THREADS)
    dots_kernel(Dense V, PetscInt columns, DotScratch scratch, Scalar *dots)
{
  dots_body(V, columns, scratch, dots);
}

/// See update_body(); every block copies h [columns - 1] to its shared memory.
static __global__ void __launch_bounds__(DENSE_THREADS)
    update_kernel(Dense V, PetscInt columns, const Scalar *h, PetscReal scale)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns - 1; c += DENSE_THREADS) coefficient[c] = h[c];
  __syncthreads();
  update_body(V, columns, coefficient, scale, blockIdx.x, gridDim.x);
}

/// out = V y, one thread a row in turn; every block copies y [columns] to its shared memory.
static __global__ void __launch_bounds__(DENSE_THREADS)
    combine_kernel(Dense V, PetscInt columns, const Scalar *y, Scalar *out)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns; c += DENSE_THREADS) coefficient[c] = y[c];
  __syncthreads();
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + threadIdx.x; r < V.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    out[r] = combined_row(V, columns, coefficient, r);
}

PetscErrorCode ColumnDots_CUDA(const Dense &V, PetscInt columns, const DotScratch &scratch, Scalar *dots, Stream stream)
{
  PetscFunctionBegin; // without rows, too: the sums are zero then
  dots_kernel<<<dots_blocks(V.rows, columns, scratch.multiprocessors), DENSE_THREADS, 0,
                static_cast<cudaStream_t>(stream)>>>(V, columns, scratch, dots);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnUpdate_CUDA(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  update_kernel<<<update_blocks(V.rows, multiprocessors), DENSE_THREADS, coefficient_bytes(columns),
                  static_cast<cudaStream_t>(stream)>>>(V, columns, h, scale);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnCombine_CUDA(const Dense &V, PetscInt columns, const Scalar *y, Scalar *out, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  combine_kernel<<<update_blocks(V.rows, multiprocessors), DENSE_THREADS, coefficient_bytes(columns),
                   static_cast<cudaStream_t>(stream)>>>(V, columns, y, out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
