/// The loops of smoothers on the device, a thread an index, but for the rows of a colour, which lanes share.
#include "device/batched.cuh"
#include "device/each.cuh"
#include "device/segmented.cuh"
#include "pc/smooth/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::smooth
{

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  PetscCall(LaunchEach(count, operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_SMOOTHER_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

namespace
{
/// Neighbouring lanes read neighbouring entries of a row; x is gathered, and written where no other row reads it.
/// Bitwise reproducible.
template <int LANES> __global__ void __launch_bounds__(THREADS) relax_kernel(PetscCount count, const RelaxRows rows)
{
  const PetscCount thread = thread_index(), k = thread / LANES;
  const int        lane = static_cast<int>(thread % LANES);
  Scalar           sum(0);

  const PetscInt row = k < count ? rows.list[k] : 0;
  if (k < count)
    sum = batched_sum<4>(
        rows.A.i[row] + lane, rows.A.i[row + 1], LANES, [&](PetscInt e) { return rows.A.a[e]; },
        [&](PetscInt e) { return rows.A.j[e]; }, [&](PetscInt j) { return rows.x[j]; });
#pragma unroll
  for (int mask = LANES / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask, 32); // all threads of the warp
  if (k < count && lane == 0) rows.x[row] += rows.inverse[row] * (rows.b[row] - sum);
}

template <int LANES> PetscErrorCode Launch(PetscCount count, const RelaxRows &rows, cudaStream_t stream)
{
  PetscFunctionBegin;
  relax_kernel<LANES><<<Blocks(count * LANES), THREADS, 0, stream>>>(count, rows);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Relax_CUDA(PetscCount count, int lanes, const RelaxRows &rows)
{
  Stream stream;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if (rows.zero) {
    PetscCall(LaunchEach(count, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  switch (lanes) {
  case 1: PetscCall(Launch<1>(count, rows, s)); break;
  case 2: PetscCall(Launch<2>(count, rows, s)); break;
  case 4: PetscCall(Launch<4>(count, rows, s)); break;
  case 8: PetscCall(Launch<8>(count, rows, s)); break;
  case 16: PetscCall(Launch<16>(count, rows, s)); break;
  default: PetscCall(Launch<32>(count, rows, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::smooth
