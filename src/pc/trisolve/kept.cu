/// Rounding of values on the device, a thread a value.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "pc/trisolve/kept.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static __global__ void round_kernel(PetscCount count, const Scalar *from, SingleScalar *to)
{
  const PetscCount k = thread_index();
  if (k < count) to[k] = Narrow(from[k]);
}

static __global__ void widen_kernel(PetscCount count, const SingleScalar *from, Scalar *to)
{
  const PetscCount k = thread_index();
  if (k < count) to[k] = Widen(from[k]);
}

/// *loses = 1 where something is lost: all who write write the same.
static __global__ void loses_kernel(const Scalar *values, PetscCount count, const PetscInt *diagonal, PetscInt rows,
                                    int *loses)
{
  const PetscCount k = thread_index();
  if (k < count && TooLarge(values[k])) *loses = 1;
  if (k < rows && Vanishes(values[diagonal[k]])) *loses = 1;
}

PetscErrorCode Round_CUDA(PetscCount count, const Scalar *from, SingleScalar *to, Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  round_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, from, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Widen_CUDA(PetscCount count, const SingleScalar *from, Scalar *to, Stream stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  widen_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(count, from, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RoundingLoses_CUDA(const Scalar *values, PetscCount count, const PetscInt *diagonal, PetscInt rows,
                                  int *loses, Stream stream)
{
  Array<int> flag;

  PetscFunctionBegin;
  *loses = 0;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(flag.Allocate(1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(flag.data(), 0, sizeof(int), static_cast<cudaStream_t>(stream)));
  loses_kernel<<<Blocks(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(values, count, diagonal, rows,
                                                                                 flag.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(DeviceCopyOut(loses, flag.data(), sizeof(int), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
