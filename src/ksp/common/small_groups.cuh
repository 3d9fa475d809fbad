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

/// A block's place in its group, and the group's barrier, which takes less time than that of all blocks of a grid by
/// CUDA's cooperative groups.
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
      __threadfence();
      atomicAdd(arrived_, 1u);
      while (static_cast<int>(*static_cast<volatile unsigned *>(arrived_) - due_) < 0) {}
      __threadfence();
    }
    __syncthreads();
  }

private:
  unsigned  blocks_;
  unsigned *arrived_;
  unsigned  due_ = 0;
};

} // namespace sparsegpu::ksp
