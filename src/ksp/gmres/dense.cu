/// Launchers of the products with a basis; the kernels' bodies are in dense.cuh, shared with the pipeline.
#include "device/cuda_check.hpp"
#include "ksp/gmres/dense.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// See dots_body().
template <class Entry> static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    dots_kernel(Basis<Entry> V, PetscInt columns, DotScratch scratch, Scalar *dots)
{
  dots_body(V, columns, scratch, dots);
}

/// See update_body(); every block copies h [columns - 1] to its shared memory.
template <class Entry> static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    update_kernel(Basis<Entry> V, PetscInt columns, const Scalar *h, PetscReal scale, bool ends)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns - 1; c += DENSE_THREADS) coefficient[c] = h[c];
  __syncthreads();
  update_body(V, columns, coefficient, scale, ends, blockIdx.x, gridDim.x,
              dense_share<Entry>(V.rows, blockIdx.y, gridDim.y));
}

/// See combine_body().
template <class Entry> static __global__ void __launch_bounds__(DENSE_THREADS)
    combine_kernel(Basis<Entry> V, PetscInt columns, const Scalar *y, const Scalar *scale, const Scalar *base,
                   Scalar *out)
{
  combine_body(V, columns, y, scale, base, out);
}

/// One thread a row in turn.
static __global__ void __launch_bounds__(DENSE_THREADS) widen_kernel(Basis<Narrow> V, PetscInt c)
{
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < V.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    V.w[r] = Widen(V.v[static_cast<size_t>(c) * V.stride + r]);
}

template <class Entry> PetscErrorCode ColumnDots_CUDA(const Basis<Entry> &V, PetscInt columns,
                                                      const DotScratch &scratch, Scalar *dots, Stream stream)
{
  const DenseBlocks blocks = dense_blocks<Entry>(V.rows, columns, scratch.multiprocessors);

  PetscFunctionBegin; // without rows, too: the sums are zero then
  dots_kernel<<<dim3(blocks.groups, blocks.shares), DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      V, columns, scratch, dots);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Entry> PetscErrorCode ColumnUpdate_CUDA(const Basis<Entry> &V, PetscInt columns, const Scalar *h,
                                                        PetscReal scale, bool ends, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const DenseBlocks blocks = dense_blocks<Entry>(V.rows, columns, multiprocessors);
  update_kernel<<<dim3(blocks.groups, blocks.shares), DENSE_THREADS, coefficient_bytes(columns),
                  static_cast<cudaStream_t>(stream)>>>(V, columns, h, scale, ends);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Entry> PetscErrorCode ColumnCombine_CUDA(const Basis<Entry> &V, PetscInt columns, const Scalar *y,
                                                         const Scalar *scale, const Scalar *base, Scalar *out,
                                                         Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const DenseBlocks blocks = dense_blocks<Entry>(V.rows, 1, multiprocessors);
  combine_kernel<<<blocks.shares, DENSE_THREADS, coefficient_bytes(columns), static_cast<cudaStream_t>(stream)>>>(
      V, columns, y, scale, base, out);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColumnWiden_CUDA(const Basis<Narrow> &V, PetscInt c, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (V.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = (V.rows - 1) / DENSE_THREADS + 1, full = 8 * multiprocessors;
  widen_kernel<<<static_cast<unsigned>(useful < full ? useful : full), DENSE_THREADS, 0,
                 static_cast<cudaStream_t>(stream)>>>(V, c);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode ColumnDots_CUDA(const Basis<Scalar> &, PetscInt, const DotScratch &, Scalar *, Stream);
template PetscErrorCode ColumnDots_CUDA(const Basis<Narrow> &, PetscInt, const DotScratch &, Scalar *, Stream);
template PetscErrorCode ColumnUpdate_CUDA(const Basis<Scalar> &, PetscInt, const Scalar *, PetscReal, bool, Stream);
template PetscErrorCode ColumnUpdate_CUDA(const Basis<Narrow> &, PetscInt, const Scalar *, PetscReal, bool, Stream);
template PetscErrorCode ColumnCombine_CUDA(const Basis<Scalar> &, PetscInt, const Scalar *, const Scalar *,
                                           const Scalar *, Scalar *, Stream);
template PetscErrorCode ColumnCombine_CUDA(const Basis<Narrow> &, PetscInt, const Scalar *, const Scalar *,
                                           const Scalar *, Scalar *, Stream);

} // namespace sparsegpu::gmres
