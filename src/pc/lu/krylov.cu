/// One thread an entry, and one block a dot product: bitwise reproducible, and fast enough for what is rarely done.
#include "device/cuda_check.hpp"
#include "pc/lu/krylov.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

static constexpr int THREADS = 256, DOT_THREADS = 1024;

static __global__ void scale_kernel(PetscInt rows, const PetscReal *scale, const Scalar *r, Scalar *v)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k < rows) v[k] = scale ? Scalar(scale[k]) * r[k] : r[k];
}

static __global__ void product_kernel(SystemView A, const PetscReal *scale, const Scalar *z, Scalar *v)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= A.rows) return;
  Scalar sum(0);
  for (PetscInt e = A.i[k]; e < A.i[k + 1]; e++) sum = sum + A.a[A.source ? A.source[e] : e] * z[A.j[e]];
  v[k] = scale ? Scalar(scale[k]) * sum : sum;
}

/// A block a vector: strided parts, summed as a tree.
static __global__ void __launch_bounds__(DOT_THREADS)
    dots_kernel(PetscInt rows, const Scalar *v, const Scalar *w, Scalar *result)
{
  __shared__ Scalar part[DOT_THREADS];
  const Scalar     *column = v + static_cast<PetscCount>(blockIdx.x) * rows;
  const int         t      = threadIdx.x;
  Scalar            sum(0);
  for (PetscCount k = t; k < rows; k += DOT_THREADS) sum = sum + Conj(column[k]) * w[k];
  part[t] = sum;
  __syncthreads();
  for (int half = DOT_THREADS / 2; half > 0; half /= 2) {
    if (t < half) part[t] = part[t] + part[t + half];
    __syncthreads();
  }
  if (t == 0) result[blockIdx.x] = part[0];
}

static __global__ void combine_kernel(PetscInt rows, PetscInt count, LuCoefficients c, const Scalar *v, PetscReal beta,
                                      Scalar *y)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x;
  if (k >= rows) return;
  Scalar sum = beta == 0 ? Scalar(0) : Scalar(beta) * y[k];
  for (PetscInt j = 0; j < count; j++) sum = sum + c.c[j] * v[k + static_cast<PetscCount>(j) * rows];
  y[k] = sum;
}

static unsigned Blocks(PetscInt rows)
{
  return static_cast<unsigned>((static_cast<PetscCount>(rows) + THREADS - 1) / THREADS);
}

PetscErrorCode Scale_CUDA(PetscInt rows, const PetscReal *scale, const Scalar *r, Scalar *v, Stream stream)
{
  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  scale_kernel<<<Blocks(rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(rows, scale, r, v);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ScaledProduct_CUDA(const SystemView &A, const PetscReal *scale, const Scalar *z, Scalar *v,
                                  Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  product_kernel<<<Blocks(A.rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, scale, z, v);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dots_CUDA(PetscInt rows, PetscInt count, const Scalar *v, const Scalar *w, Scalar *result, Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  dots_kernel<<<static_cast<unsigned>(count), DOT_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(rows, v, w, result);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Combine_CUDA(PetscInt rows, PetscInt count, const LuCoefficients &c, const Scalar *v, PetscReal beta,
                            Scalar *y, Stream stream)
{
  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  combine_kernel<<<Blocks(rows), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(rows, count, c, v, beta, y);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
