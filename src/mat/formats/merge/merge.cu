#include "device/carry.hpp"
#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/merge/merge.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;
static constexpr int STEPS   = 7; // merge steps per thread: odd, so that a warp's shared-memory reads spread over the banks
static constexpr int TILE    = THREADS * STEPS;

PetscInt MergeTile_CUDA()
{
  return TILE;
}

/// z = A x + y but for what is carried. One thread block per share, in tiles of TILE steps: products and row ends are read
/// coalesced into shared memory, then every thread walks its own STEPS steps of the path, and a segmented sum over the
/// block joins rows that span threads. Bitwise reproducible.
static __global__ void __launch_bounds__(THREADS) merge_kernel(MergeLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ Scalar   product[TILE];
  __shared__ PetscInt row_end[TILE];
  __shared__ Scalar   warps[THREADS / 32];
  __shared__ bool     flags[THREADS / 32];
  const PetscCount    steps = static_cast<PetscCount>(A.rows) + A.nonzeros, begin = blockIdx.x * A.share;
  const PetscCount    end  = begin + A.share < steps ? begin + A.share : steps;
  const PetscInt      last = A.start_row[blockIdx.x + 1];
  PetscInt            row  = A.start_row[blockIdx.x];
  Scalar              carry(0);

  for (PetscCount d = begin; d < end; d += TILE) {
    const PetscCount d_end    = d + TILE < end ? d + TILE : end;
    const PetscInt   row_next = d_end == end ? last : MergeSearch(d_end, A.i + 1, A.rows, A.nonzeros);
    const int        rows = static_cast<int>(row_next - row), here = static_cast<int>(d_end - d), entries = here - rows;
    const PetscInt   first = static_cast<PetscInt>(d - row);

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const int e = k * THREADS + threadIdx.x;
      if (e < entries) product[e] = load_stream(A.a + first + e) * x[load_stream(A.j + first + e)];
    }
    for (int r = threadIdx.x; r < rows; r += THREADS) row_end[r] = A.i[row + 1 + r] - first;
    __syncthreads();

    int       step     = threadIdx.x * STEPS;
    const int stop     = step + STEPS < here ? step + STEPS : here;
    bool      head     = false;
    int       head_row = 0;
    Scalar    head_sum(0), sum(0);
    if (step < here) {
      int r = static_cast<int>(MergeSearch(step, row_end, rows, entries)), e = step - r;
      for (; step < stop; step++) {
        if (r < rows && row_end[r] <= e) {
          if (!head) {
            head     = true;
            head_row = r;
            head_sum = sum;
          } else
            z[row + r] = y ? y[row + r] + sum : sum;
          sum = Scalar(0);
          r++;
        } else
          sum += product[e++];
      }
    }
    Scalar       total;
    const Scalar in = segmented_carry<THREADS>(head, sum, carry, warps, flags, &total);
    if (head) {
      head_sum          = in + head_sum;
      z[row + head_row] = y ? y[row + head_row] + head_sum : head_sum;
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

} // namespace sparsegpu
