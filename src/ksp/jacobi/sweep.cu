#include "device/cuda_check.hpp"
#include "ksp/jacobi/sweep.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// next = x + damping D^-1 (b - product), a thread a row in turn; neighbouring threads read neighbouring entries.
static __global__ void __launch_bounds__(SWEEP_THREADS) sweep_kernel(Sweep sweep, SweepControl control)
{
  PetscReal norm = 0;

  if (sweep_stopped(control)) return;
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * SWEEP_THREADS + threadIdx.x; r < sweep.rows;
       r += static_cast<PetscInt>(gridDim.x) * SWEEP_THREADS)
    norm = joined(sweep.norm, norm, sweep_row(sweep, r, sweep.product[r]));
  finish_sweep(sweep, control, norm);
}

PetscErrorCode Sweep_CUDA(const Sweep &sweep, const SweepControl &control, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  sweep_kernel<<<sweep_blocks(sweep.rows, SWEEP_THREADS, multiprocessors), SWEEP_THREADS, 0,
                 static_cast<cudaStream_t>(stream)>>>(sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
