/// Launchers of the products with a basis; the kernels' bodies are in dense.cuh, shared with the pipeline.
#include "device/cuda_check.hpp"
#include "ksp/gmres/dense.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// See dots_body().
static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    dots_kernel(Dense V, PetscInt columns, DotScratch scratch, Scalar *dots)
{
  dots_body(V, columns, scratch, dots);
}

/// See update_body(); every block copies h [columns - 1] to its shared memory.
static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    update_kernel(Dense V, PetscInt columns, const Scalar *h, PetscReal scale)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns - 1; c += DENSE_THREADS) coefficient[c] = h[c];
  __syncthreads();
  update_body(V, columns, coefficient, scale, blockIdx.x, gridDim.x, dense_share(V.rows, blockIdx.y, gridDim.y));
}

/// out = base + scale .* (V y), one thread a row in turn; every block copies y [columns] to its shared memory.
static __global__ void __launch_bounds__(DENSE_THREADS)
    combine_kernel(Dense V, PetscInt columns, const Scalar *y, const Scalar *scale, const Scalar *base, Scalar *out)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns; c += DENSE_THREADS) coefficient[c] = y[c];
  __syncthreads();
  const PetscInt step = static_cast<PetscInt>(gridDim.x) * DENSE_TILE;
  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * DENSE_TILE; first < V.rows; first += step) {
    const PetscInt r = first + static_cast<PetscInt>(threadIdx.x) * DENSE_PACK;
    DensePack      sum;
    if (r + DENSE_PACK <= V.rows)
      sum = combined_pack(V, columns, coefficient, r);
    else
      for (int p = 0; r + p < V.rows; p++) sum.s[p] = combined_row(V, columns, coefficient, r + p);
    for (int p = 0; p < DENSE_PACK && r + p < V.rows; p++) { // other arrays need not begin on a full line
      const Scalar scaled = scale ? scale[r + p] * sum.s[p] : sum.s[p];
      out[r + p]          = base ? base[r + p] + scaled : scaled;
    }
  }
}

PetscErrorCode ColumnDots_CUDA(const Dense &V, PetscInt columns, const DotScratch &scratch, Scalar *dots, Stream stream)
{
  const DenseBlocks blocks = dense_blocks(V.rows, columns, scratch.multiprocessors);

  PetscFunctionBegin; // without rows, too: the sums are zero then
  dots_kernel<<<dim3(blocks.groups, blocks.shares), DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      V, columns, scratch, dots);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnUpdate_CUDA(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const DenseBlocks blocks = dense_blocks(V.rows, columns, multiprocessors);
  update_kernel<<<dim3(blocks.groups, blocks.shares), DENSE_THREADS, coefficient_bytes(columns),
                  static_cast<cudaStream_t>(stream)>>>(V, columns, h, scale);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnCombine_CUDA(const Dense &V, PetscInt columns, const Scalar *y, const Scalar *scale,
                                  const Scalar *base, Scalar *out, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const DenseBlocks blocks = dense_blocks(V.rows, 1, multiprocessors);
  combine_kernel<<<blocks.shares, DENSE_THREADS, coefficient_bytes(columns), static_cast<cudaStream_t>(stream)>>>(
      V, columns, y, scale, base, out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
