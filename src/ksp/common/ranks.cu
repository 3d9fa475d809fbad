/// Which rows have ghosts, as bits.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "ksp/common/ranks.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

/// One thread a listed row; `all`: a word.
static __global__ void mark_kernel(PetscInt count, const PetscInt *row, bool all, std::uint32_t *bits)
{
  const PetscCount n = thread_index();
  if (n >= count) return;
  if (all)
    bits[n] = ~0u;
  else
    atomicOr(bits + row[n] / 32, 1u << (row[n] % 32));
}

PetscErrorCode MarkRows_CUDA(const CsrLayout &A, std::uint32_t *bits, Stream stream)
{
  const PetscInt     words = A.rows / 32 + 1, count = A.filled >= 0 ? A.filled : words;
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaMemsetAsync(bits, 0, static_cast<size_t>(words) * sizeof(*bits), s));
  if (count > 0) mark_kernel<<<Blocks(count), THREADS, 0, s>>>(count, A.filled_row, A.filled < 0, bits);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
