/// A short run of carries is one thread's loop; a long one is summed by the whole block in a fixed order.
#include "device/carry.hpp"
#include "device/launch.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// One thread per carry; the first carry of a row adds the whole run to z. Runs of more than LONG_RUN carries (a row of
/// millions of entries) are summed by the block together, each thread every blockDim-th carry, then a fixed tree.
static __global__ void carry_kernel(PetscInt count, const PetscInt *row, const Scalar *value, Scalar *z)
{
  constexpr int       LONG_RUN = 32;
  __shared__ PetscInt long_begin[256 / LONG_RUN + 2];
  __shared__ int      longs;
  __shared__ Scalar   partial[256];
  const PetscInt      w = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (threadIdx.x == 0) longs = 0;
  wait_for_previous_kernel();
  __syncthreads();
  if (w < count && row[w] >= 0 && (w == 0 || row[w - 1] != row[w])) {
    const PetscInt r   = row[w];
    Scalar         sum = value[w];
    PetscInt       e   = w + 1;
    for (; e < count && e < w + LONG_RUN && row[e] == r; e++) sum += value[e];
    if (e < count && row[e] == r)
      long_begin[atomicAdd(&longs, 1)] = w; // the order of this list changes no sum
    else
      z[r] += sum;
  }
  __syncthreads();
  for (int k = 0; k < longs; k++) {
    const PetscInt begin = long_begin[k], r = row[begin];
    Scalar         sum(0);
    for (PetscInt e = begin + threadIdx.x; e < count && row[e] == r; e += blockDim.x) sum += value[e];
    partial[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) z[r] += partial[0];
    __syncthreads();
  }
}

PetscErrorCode AddCarries_CUDA(PetscInt count, const PetscInt *row, const Scalar *value, Scalar *z, Stream stream)
{
  constexpr int threads = 256; // the tree in the kernel is built for it

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LaunchEarly<carry_kernel>((count + threads - 1) / threads, threads, static_cast<cudaStream_t>(stream),
                                      count, row, value, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
