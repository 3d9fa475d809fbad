/// The product by merge path on the GPU: thread blocks take equal shares of rows and entries together, and walk the
/// path that the pattern gives; the sum of a row that a share cuts is carried to a second kernel.
#include "device/carry.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/merge/merge.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int STEPS =
    7; // merge steps per thread: odd, so that a warp's shared-memory reads spread over the banks
static constexpr int TILE = THREADS * STEPS;

PetscInt MergeTile_CUDA()
{
  return TILE;
}

/// The row coordinate of the merge path on diagonal `step`; *next gets the bits of the 32 steps from there on.
__device__ __forceinline__ PetscInt merge_row(const MergeLayout &A, PetscCount step, unsigned *next)
{
  const PetscCount word = step / 32;
  const unsigned   low = A.path[word], shift = step % 32;
  *next = __funnelshift_r(low, A.path[word + 1], shift);
  return A.rank[word] + __popc(low & ((1u << shift) - 1));
}

/// z = A x + y but for what is carried. One thread block per share, in tiles of TILE steps: products are read coalesced
/// into shared memory, every load on its way before the first is waited for; then every thread walks its own STEPS
/// steps of the path, and a segmented sum over the block joins rows that span threads. Bitwise reproducible.
static __global__ void __launch_bounds__(THREADS)
    merge_kernel(MergeLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ Scalar product[TILE];
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   flags[THREADS / 32];
  const PetscCount  steps = static_cast<PetscCount>(A.rows) + A.nonzeros, begin = blockIdx.x * A.share;
  const PetscCount  end  = begin + A.share < steps ? begin + A.share : steps;
  const PetscInt    last = A.start_row[blockIdx.x + 1];
  PetscInt          row  = A.start_row[blockIdx.x];
  Scalar            carry(0);
  unsigned          bits;

  let_next_kernel_start();
  for (PetscCount d = begin; d < end; d += TILE) {
    const PetscCount d_end  = d + TILE < end ? d + TILE : end;
    const PetscInt row_next = d_end == end ? last : merge_row(A, d_end, &bits), first = static_cast<PetscInt>(d - row);
    const int      here = static_cast<int>(d_end - d), entries = here - static_cast<int>(row_next - row);
    Scalar         a[STEPS];
    PetscInt       j[STEPS];

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const int e = k * THREADS + threadIdx.x;
      j[k]        = -1;
      if (e < entries) {
        j[k] = load_stream(A.j + first + e);
        a[k] = load_stream(A.a + first + e);
      }
    }
    int      step = threadIdx.x * STEPS;
    PetscInt r    = 0;
    if (step < here) r = merge_row(A, d + step, &bits);
#pragma unroll
    for (int k = 0; k < STEPS; k++)
      if (j[k] >= 0) a[k] = a[k] * x[j[k]];
#pragma unroll
    for (int k = 0; k < STEPS; k++)
      if (j[k] >= 0) product[k * THREADS + threadIdx.x] = a[k];
    __syncthreads();

    bool     head     = false;
    PetscInt head_row = 0;
    Scalar   head_sum(0), sum(0);
    int      e = step - static_cast<int>(r - row);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      if (step + k >= here) continue;
      if (bits >> k & 1) {
        if (!head) {
          head     = true;
          head_row = r;
          head_sum = sum;
        } else
          z[r] = y ? y[r] + sum : sum;
        sum = Scalar(0);
        r++;
      } else
        sum += product[e++];
    }
    Scalar       total;
    const Scalar in = segmented_carry<THREADS>(head, sum, carry, warps, flags, &total);
    if (head) {
      head_sum    = in + head_sum;
      z[head_row] = y ? y[head_row] + head_sum : head_sum;
    }
    carry = total;
    row   = row_next;
  }
  if (threadIdx.x == 0) {
    A.carry_row[blockIdx.x]   = last < A.rows ? last : -1;
    A.carry_value[blockIdx.x] = carry;
  }
}

PetscErrorCode MergeMult_CUDA(const MergeLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (A.workers == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  merge_kernel<<<static_cast<unsigned>(A.workers), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, x, y, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(AddCarries_CUDA(A.workers, A.carry_row, A.carry_value, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
