/// Inner products of a K-cycle: one pass over the vectors, sums in an order that depends on the rows alone.
#include "device/cuda_check.hpp"
#include "pc/aggregate/add_up.cuh"
#include "pc/amg/krylov.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

namespace
{
/// Neighbouring threads read neighbouring entries. Bitwise reproducible.
template <int COUNT> __global__ void __launch_bounds__(THREADS)
    dots_kernel(PetscInt rows, const DotPairs pairs, Scalar *partial, unsigned *arrived, Scalar *sums)
{
  Scalar  sum[COUNT];
  Scalar *to[COUNT];

#pragma unroll
  for (int c = 0; c < COUNT; c++) {
    sum[c] = Scalar(0);
    to[c]  = sums + c;
  }
  for (PetscCount k = thread_index(); k < rows; k += static_cast<PetscCount>(gridDim.x) * THREADS)
#pragma unroll
    for (int c = 0; c < COUNT; c++) sum[c] += Conj(pairs.left[c][k]) * pairs.right[c][k];
  aggregate::add_up<COUNT>(sum, partial, arrived, to);
}
} // namespace

size_t DotsScratch_CUDA()
{
  return static_cast<size_t>(DotPairs::MOST) * aggregate::MOST_BLOCKS;
}

PetscErrorCode DotsBegin_CUDA(unsigned *arrived)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  SparseGPUCallCUDA(cudaMemsetAsync(arrived, 0, sizeof(*arrived), static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dots_CUDA(PetscInt rows, const DotPairs &pairs, int count, Scalar *partial, unsigned *arrived,
                         Scalar *sums)
{
  Stream stream;

  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid; nothing reads the sums
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  const unsigned     blocks = aggregate::BlocksOf(rows);
  if (count == 2)
    dots_kernel<2><<<blocks, THREADS, 0, s>>>(rows, pairs, partial, arrived, sums);
  else
    dots_kernel<3><<<blocks, THREADS, 0, s>>>(rows, pairs, partial, arrived, sums);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
