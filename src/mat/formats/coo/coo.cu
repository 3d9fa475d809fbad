/// The product of coordinates on the GPU: thread blocks take equal intervals of entries, sorted by row, and sum them by
/// segments; the sum of a row that an interval cuts is carried to a second kernel.
#include "device/carry.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "device/load.cuh"
#include "device/scatter.hpp"
#include "device/segmented.cuh"
#include "mat/formats/coo/coo.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

static constexpr int ENTRIES  = 7; // per thread: odd, so that a warp's shared-memory reads spread over the banks
static constexpr int INTERVAL = THREADS * ENTRIES;

PetscInt CooInterval_CUDA()
{
  return INTERVAL;
}

/// z += A x but for what is carried. Products and rows are read coalesced into shared memory, every thread sums ENTRIES
/// neighbouring ones, and a segmented sum over the block joins rows that span threads. A row that ends inside the
/// interval is written by this block alone; the last one is carried. Bitwise reproducible.
static __global__ void __launch_bounds__(THREADS) coo_kernel(CooLayout A, const Scalar *x, Scalar *z)
{
  __shared__ Scalar   product[INTERVAL];
  __shared__ PetscInt row[INTERVAL];
  __shared__ Scalar   warps[THREADS / 32];
  __shared__ bool     flags[THREADS / 32];
  const PetscInt      begin = static_cast<PetscInt>(blockIdx.x) * INTERVAL;
  const int           here  = A.nonzeros - begin < INTERVAL ? static_cast<int>(A.nonzeros - begin) : INTERVAL;

  Scalar   a[ENTRIES];
  PetscInt j[ENTRIES];
  let_next_kernel_start();
#pragma unroll
  for (int k = 0; k < ENTRIES; k++) { // every load on its way before the first is waited for
    const int e = k * THREADS + threadIdx.x;
    j[k]        = -1;
    if (e < here) {
      j[k] = load_stream(A.j + begin + e);
      a[k] = load_stream(A.a + begin + e);
    }
  }
#pragma unroll
  for (int k = 0; k < ENTRIES; k++)
    if (j[k] >= 0) a[k] = a[k] * x[j[k]];
#pragma unroll
  for (int k = 0; k < ENTRIES; k++) {
    const int e = k * THREADS + threadIdx.x;
    if (j[k] >= 0) {
      product[e] = a[k];
      row[e]     = load_stream(A.row + begin + e);
    }
  }
  __syncthreads();

  int       e        = threadIdx.x * ENTRIES;
  const int stop     = e + ENTRIES < here ? e + ENTRIES : here;
  bool      head     = false;
  PetscInt  head_row = 0;
  Scalar    head_sum(0), sum(0);
  for (; e < stop; e++) {
    if (e > 0 && row[e] != row[e - 1]) { // the row before has ended
      if (!head) {
        head     = true;
        head_row = row[e - 1];
        head_sum = sum;
      } else
        z[row[e - 1]] += sum;
      sum = Scalar(0);
    }
    sum += product[e];
  }
  Scalar       total;
  const Scalar in = segmented_carry<THREADS>(head, sum, Scalar(0), warps, flags, &total);
  if (head) z[head_row] += in + head_sum;
  if (threadIdx.x == 0) {
    A.carry_row[blockIdx.x]   = row[here - 1];
    A.carry_value[blockIdx.x] = total;
  }
}

PetscErrorCode CooMult_CUDA(const CooLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (!y)
    PetscCall(FillValues_CUDA(A.rows, Scalar(0), z, stream));
  else if (y != z)
    SparseGPUCallCUDA(cudaMemcpyAsync(z, y, A.rows * sizeof(Scalar), cudaMemcpyDeviceToDevice, s));
  if (A.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  coo_kernel<<<static_cast<unsigned>(A.intervals), THREADS, 0, s>>>(A, x, z);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(AddCarries_CUDA(A.intervals, A.carry_row, A.carry_value, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
