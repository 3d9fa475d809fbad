/// Groups of neighbouring thread blocks of a cooperative launch, each of which works by itself: blocks of a group wait
/// for each other, not for those of other groups.
#pragma once

#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "ksp/common/small_groups.hpp"

namespace sparsegpu::ksp
{

/// Before a launch: arrived [GROUP_COUNTERS * groups] = 0. Asynchronous.
inline PetscErrorCode ClearGroups(PetscInt groups, unsigned *arrived, Stream stream)
{
  const size_t bytes = static_cast<size_t>(GROUP_COUNTERS * groups) * sizeof(unsigned);

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaMemsetAsync(arrived, 0, bytes, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A block's place in its group, and the group's barrier.
class BlockGroup
{
public:
  /// `blocks` of a group; arrived as ClearGroups() leaves it.
  __device__ BlockGroup(PetscInt blocks, unsigned *arrived)
      : blocks_(static_cast<unsigned>(blocks)),
        arrived_(arrived + GROUP_COUNTERS * (blockIdx.x / blocks_))
  {
  }
  __device__ int      group() const { return static_cast<int>(blockIdx.x / blocks_); }
  __device__ PetscInt block() const { return static_cast<PetscInt>(blockIdx.x % blocks_); }

  /// All blocks of the group come here before one goes on; what their threads have written before may then be read by
  /// load_shared(). All threads of the block must call.
  __device__ void sync()
  {
    due_ += blocks_;
    __syncthreads();
    if (threadIdx.x == 0) {
      arrive();
      while (static_cast<int>(arrived() - due_) < 0) {}
    }
    __syncthreads();
  }

private:
  /// What the block has written comes before this for whoever sees it by arrived(); two fences would take longer.
  __device__ __forceinline__ void arrive()
  {
#if __CUDA_ARCH__ >= 700
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived_) : "memory");
#else
    __threadfence();
    atomicAdd(arrived_, 1u);
#endif
  }
  __device__ __forceinline__ unsigned arrived() const
  {
    unsigned count;
#if __CUDA_ARCH__ >= 700
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(arrived_) : "memory");
#else
    count = *static_cast<volatile unsigned *>(arrived_);
    __threadfence();
#endif
    return count;
  }

  unsigned  blocks_;
  unsigned *arrived_;
  unsigned  due_ = 0;
};

} // namespace sparsegpu::ksp
