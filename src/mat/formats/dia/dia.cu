#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "device/load.cuh"
#include "mat/formats/dia/dia.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32; also the offsets staged at a time

/// z = A x + y, one thread per row; the offsets are read once per block. Neighbouring threads read neighbouring a and
/// x. Bitwise reproducible. Starts while the kernel before it ends, as only values and vectors may come from there.
static __global__ void dia_kernel(DiaLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  __shared__ PetscInt offset[THREADS];
  const PetscInt      row = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  Scalar              sum(0);

  for (PetscInt first = 0; first < A.diagonals; first += THREADS) {
    const PetscInt count = A.diagonals - first < THREADS ? A.diagonals - first : THREADS;
    __syncthreads();
    if (threadIdx.x < count) offset[threadIdx.x] = A.offset[first + threadIdx.x];
    __syncthreads();
    if (first == 0) begin_in_turn();
    if (row < A.rows) {
#pragma unroll 8
      for (PetscInt d = 0; d < count; d++) {
        const PetscInt column = row + offset[d];
        if (column >= 0 && column < A.cols) {
          const Scalar a = load_stream(A.a + (first + d) * A.pitch + row), v = x[column];
          if (!IsPad(a)) sum += a * v;
        }
      }
    }
  }
  if (A.diagonals == 0) begin_in_turn();
  if (row < A.rows) z[row] = y ? y[row] + sum : sum;
}

PetscErrorCode DiaMult_CUDA(const DiaLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(LaunchEarly<dia_kernel>((A.rows + THREADS - 1) / THREADS, THREADS, static_cast<cudaStream_t>(stream), A, x,
                                    y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
