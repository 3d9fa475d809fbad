/// The coarse tail in one cooperative launch: rows of a phase are shared among all thread blocks, or are the first
/// one's where a level has so little that a barrier of the grid takes longer.
#include <cooperative_groups.h>
#include <algorithm>
#include "device/batched.cuh"
#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "device/segmented.cuh"
#include "pc/amg/tail.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

namespace
{
constexpr int TAIL_THREADS = 512;

/// Lanes of a row read neighbouring entries; x is gathered from L2, where other blocks have written it. Sums are added
/// up in an order that depends on the lanes alone.
struct GridTeam {
  cooperative_groups::grid_group grid;

  /// Of this thread: its number among those that share the phase, and how many these are; 0: it has none.
  __device__ __forceinline__ PetscInt Threads(bool solo) const
  {
    return solo ? (blockIdx.x == 0 ? TAIL_THREADS : 0) : static_cast<PetscInt>(gridDim.x) * TAIL_THREADS;
  }
  __device__ __forceinline__ PetscInt Number(bool solo) const
  {
    return solo ? threadIdx.x : static_cast<PetscInt>(blockIdx.x) * TAIL_THREADS + threadIdx.x;
  }
  template <class Done> __device__ __forceinline__ void Product(PetscInt rows, const PetscInt *list,
                                                                const TailMatrix &A, const Scalar *x, bool solo,
                                                                const Done &done) const
  {
    const PetscInt threads = Threads(solo), at_once = threads / A.lanes, number = Number(solo);
    const int      lane = static_cast<int>(number) & (A.lanes - 1);

    if (threads == 0) return;
    for (PetscInt begin = 0; begin < rows; begin += at_once) { // together, as lanes exchange sums
      const PetscInt k   = begin + number / A.lanes;
      const PetscInt row = k < rows ? (list ? list[k] : k) : 0;
      Scalar         sum(0);
      if (k < rows)
        sum = batched_sum<4>(
            A.csr.i[row] + lane, A.csr.i[row + 1], A.lanes, [&](PetscInt e) { return A.csr.a[e]; },
            [&](PetscInt e) { return A.csr.j[e]; }, [&](PetscInt j) { return load_shared(x + j); });
      for (int mask = A.lanes / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask, 32);
      if (k < rows && lane == 0) done(row, sum);
    }
  }
  /// A warp a row, of the first block.
  __device__ __forceinline__ void Dense(PetscInt n, const Scalar *A, const Scalar *x, Scalar *y) const
  {
    const PetscInt lane = threadIdx.x % 32;

    if (blockIdx.x > 0) return;
    for (PetscInt row = threadIdx.x / 32; row < n; row += TAIL_THREADS / 32) {
      Scalar sum(0);
      for (PetscInt j = lane; j < n; j += 32) sum += A[row * n + j] * load_shared(x + j);
      sum = group_sum<32>(sum);
      if (lane == 0) y[row] = sum;
    }
  }
  template <class Done> __device__ __forceinline__ void Each(PetscInt rows, bool solo, const Done &done) const
  {
    const PetscInt threads = Threads(solo);

    if (threads == 0) return;
    for (PetscInt row = Number(solo); row < rows; row += threads) done(row, Scalar(0));
  }
  __device__ __forceinline__ void Sync(bool solo) const
  {
    if (!solo)
      grid.sync();
    else if (blockIdx.x == 0)
      __syncthreads();
  }
};

__global__ void __launch_bounds__(TAIL_THREADS, 1) tail_kernel(const __grid_constant__ Tail tail, bool zero)
{
  const GridTeam      team{cooperative_groups::this_grid()};
  TailCycle<GridTeam> cycle(tail, team);

  cycle.Run(zero);
}
} // namespace

PetscErrorCode PlanTail_CUDA(Tail *tail)
{
  const TailLevel &first = tail->level[0];
  PetscInt         together, wanted = 1;

  PetscFunctionBegin;
  PetscCall(CooperativeBlocks(reinterpret_cast<const void *>(tail_kernel), TAIL_THREADS, 0, &together));
  if (!first.solo) wanted = (first.A.rows * first.A.lanes + TAIL_THREADS - 1) / TAIL_THREADS;
  tail->blocks = std::min(wanted, together);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunTail_CUDA(const Tail &tail, bool zero, bool *launched)
{
  void  *given[] = {const_cast<Tail *>(&tail), &zero};
  Stream stream;

  PetscFunctionBegin;
  *launched = false;
  if (tail.blocks == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(LaunchCooperative(reinterpret_cast<const void *>(tail_kernel), tail.blocks, TAIL_THREADS, given, 0, stream,
                              launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
