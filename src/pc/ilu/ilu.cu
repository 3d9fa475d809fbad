#include "device/cuda_check.hpp"
#include "device/segmented.cuh"
#include "pc/ilu/ilu.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 128;
static constexpr int ROWS    = THREADS / 32; // per block

__device__ __forceinline__ int load_acquire(const int *p)
{
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store_release(int *p, int v)
{
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
/// Values that other warps have written or this warp is writing: not from L1.
__device__ __forceinline__ Scalar load_value(const Scalar *p)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(__ldcg(&p->re), __ldcg(&p->im));
#else
  return __ldcg(p);
#endif
}

/// One warp per row, row-wise Gaussian elimination on the pattern: for each entry m of L in ascending order, once row m
/// is done, the row of U is subtracted, each lane a part of its entries, found by bisection. Rows are claimed by ticket
/// in the order of their levels, so the oldest can always go on. A fixed order for every entry: bitwise reproducible.
static __global__ void __launch_bounds__(THREADS)
    ilu_kernel(IluLayout A, IluPivots pivots, Scalar *values, IluWork work)
{
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(work.ticket, 1u);
  __syncthreads();
  const PetscInt k    = static_cast<PetscInt>(ticket) * ROWS + threadIdx.x / 32;
  const int      lane = threadIdx.x % 32;
  if (k >= A.rows) return;
  const PetscInt r = A.order[k], begin = A.i[r], end = A.i[r + 1], diagonal = A.diagonal[r];

  if (lane == 0 && pivots.shift != 0) values[diagonal] = values[diagonal] + Scalar(pivots.shift);
  __syncwarp();
  for (PetscInt e = begin; e < diagonal; e++) {
    const PetscInt m = A.j[e];
    if (lane == 0) {
      long long polls = 0;
      while (!load_acquire(work.done + m)) {
        if (++polls > work.spins) {
          *static_cast<volatile int *>(work.stuck) = 1;
          break;
        }
      }
    }
    __syncwarp();
    const Scalar factor = load_value(values + e) * load_value(values + A.diagonal[m]);
    __syncwarp();
    if (lane == 0) values[e] = factor;
    for (PetscInt f = A.diagonal[m] + 1 + lane; f < A.i[m + 1]; f += 32) {
      const PetscInt column = A.j[f];
      PetscInt       low = e + 1, high = end;
      while (low < high) {
        const PetscInt middle = low + (high - low) / 2;
        if (A.j[middle] < column)
          low = middle + 1;
        else
          high = middle;
      }
      if (low < end && A.j[low] == column) values[low] = load_value(values + low) - factor * load_value(values + f);
    }
    __syncwarp();
  }
  Scalar others(0); // real: the sum of magnitudes
  for (PetscInt e = begin + lane; e < end; e += 32)
    if (e != diagonal) others += Scalar(Magnitude(load_value(values + e)));
  others = group_sum<32>(others);
  if (lane == 0) {
    Scalar          pivot = load_value(values + diagonal);
    const PetscReal size  = pivots.positive ? RealPart(pivot) : Magnitude(pivot);
    const bool      zero  = size <= pivots.zero * (pivots.relative ? RealPart(others) : 1);
    work.pivot[r]         = zero ? -Magnitude(pivot) - 1 : Magnitude(pivot);
    if (zero) pivot += Scalar(pivots.replace);
    values[diagonal] = Inverse(pivot);
    __threadfence();
  }
  __syncwarp();
  __threadfence(); // every lane's entries before the flag
  __syncwarp();
  if (lane == 0) store_release(work.done + r, 1);
}

PetscErrorCode IluNumeric_CUDA(const IluLayout &A, const IluPivots &pivots, Scalar *values, const IluWork &work,
                               Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  SparseGPUCallCUDA(cudaMemsetAsync(work.done, 0, static_cast<size_t>(A.rows) * sizeof(int), s));
  SparseGPUCallCUDA(cudaMemsetAsync(work.ticket, 0, sizeof(unsigned), s));
  ilu_kernel<<<static_cast<unsigned>((A.rows + ROWS - 1) / ROWS), THREADS, 0, s>>>(A, pivots, values, work);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
