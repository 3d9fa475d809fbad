/// A sweep whose product A x has been computed before, for formats without a fused sweep.
#include "device/resident.cuh"
#include "ksp/sweep/sweep.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

/// next = x + damping D^-1 (b - product), a thread a row in turn; neighbouring threads read neighbouring entries.
static __global__ void __launch_bounds__(JACOBI_THREADS) jacobi_kernel(JacobiSweep sweep, JacobiControl control)
{
  JacobiEpilogue epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  sweep_rows(sweep.rows, epilogue, [&](PetscInt row) { return sweep.product[row]; });
  epilogue.Finish();
}

PetscErrorCode JacobiSweep_CUDA(const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscInt full;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks<jacobi_kernel>(JACOBI_THREADS, &full));
  jacobi_kernel<<<jacobi_blocks(sweep.rows, JACOBI_THREADS, full), JACOBI_THREADS, 0,
                  static_cast<cudaStream_t>(stream)>>>(sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
