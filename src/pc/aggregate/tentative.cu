/// Orthonormal columns on the device, a warp an aggregate: lanes take its rows in turn.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/segmented.cuh"
#include "pc/aggregate/tentative.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

namespace
{
struct Warp {
  int                  lane;
  static constexpr int width = 32;
  __device__ PetscReal Sum(PetscReal v) const { return warp_sum(v); }
#if defined(PETSC_USE_COMPLEX)
  __device__ Scalar Sum(Scalar v) const
  {
    return group_sum<32>(v);
  }
#endif
  __device__ void Wait() const
  {
    __syncwarp();
  }
};

/// Bitwise reproducible: sums over lanes are made in a fixed order.
__global__ void orthonormalize_kernel(PetscInt aggregates, const Basis basis)
{
  const PetscCount a = thread_index() / 32;
  if (a < aggregates) Orthonormalize(basis, a, Warp{static_cast<int>(threadIdx.x % 32)});
}
} // namespace

PetscErrorCode Orthonormalize_CUDA(PetscInt aggregates, const Basis &basis)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  orthonormalize_kernel<<<Blocks(static_cast<PetscCount>(aggregates) * 32), THREADS, 0,
                          static_cast<cudaStream_t>(stream)>>>(aggregates, basis);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
