/// Fused sweeps of formats whose values may be encoded; see fused.cu.
#include "device/resident.cuh"
#include "ksp/sweep/launch.hpp"
#include "ksp/sweep/sweep.cuh"
#include "mat/formats/bsr/row.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

/// A warp in turn takes a long row or a slice, a thread a row. Neighbouring threads read neighbouring columns and
/// values; x is gathered. Not for very long rows, which thread blocks would have to share.
template <class Values> static __global__ void __launch_bounds__(JACOBI_THREADS)
    sell_jacobi_kernel(SellLayout A, Values stored, JacobiSweep sweep, JacobiControl control)
{
  constexpr PetscInt WARPS = JACOBI_THREADS / 32;
  const int          lane  = threadIdx.x % 32;
  JacobiEpilogue     epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  const Values a = stage(stored);
  for (PetscInt warp = static_cast<PetscInt>(blockIdx.x) * WARPS + threadIdx.x / 32; warp < A.warp_rows + A.slices;
       warp += static_cast<PetscInt>(gridDim.x) * WARPS) {
    if (warp < A.warp_rows) {
      const Scalar sum = warp_row_sum(A, warp, lane, a, sweep.x);
      if (lane == 0) epilogue(A.long_row[warp], sum);
      continue;
    }
    const PetscInt s = warp - A.warp_rows, place = s * 32 + lane;
    const int      length = place < A.rows ? place_length(A, place) : SellLayout::NOT_HERE;
    if (length == SellLayout::NOT_HERE) continue;
    const Scalar sum = slice_row_sum(SellSliceOf(A, s), length, lane, a, Gather{sweep.x});
    epilogue(place_row(A, place), sum);
  }
  epilogue.Finish();
}

/// One thread a row in turn. Neighbouring threads read neighbouring values; the threads of a block row read the same
/// column and the same x.
template <int size, class Values> static __global__ void __launch_bounds__(JACOBI_THREADS)
    bsr_jacobi_kernel(BsrLayout A, Values stored, JacobiSweep sweep, JacobiControl control)
{
  constexpr PetscInt ROWS = BsrLayout::HEIGHT * size; // of a slice: whole warps
  JacobiEpilogue     epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  const Values a = stage(stored);
  sweep_rows(A.rows, epilogue, [&](PetscInt row) {
    return bsr_row_sum<size>(A, row / ROWS, static_cast<int>(row % ROWS), a, Gather{sweep.x});
  });
  epilogue.Finish();
}

/// units: rows, or what else a block takes `at_once` of.
template <auto kernel, class Layout, class Values>
static PetscErrorCode Launch(PetscInt units, PetscInt at_once, const Layout &A, const Values &a,
                             const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscInt full;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks<kernel>(JACOBI_THREADS, &full));
  kernel<<<jacobi_blocks(units, at_once, full), JACOBI_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, a, sweep,
                                                                                                        control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellJacobi_CUDA(const SellLayout &A, const ValueLayout &a, const JacobiSweep &sweep,
                               const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithValues(a, [&](const auto &values) {
    return Launch<sell_jacobi_kernel<std::decay_t<decltype(values)>>>(A.warp_rows + A.slices, JACOBI_THREADS / 32, A,
                                                                      values, sweep, control, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrJacobi_CUDA(const BsrLayout &A, const ValueLayout &a, const JacobiSweep &sweep,
                              const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithValues(a, [&](const auto &values) {
    return WithBsrSize(A.size, [&](auto size) {
      return Launch<bsr_jacobi_kernel<decltype(size)::value, std::decay_t<decltype(values)>>>(
          A.rows, JACOBI_THREADS, A, values, sweep, control, stream);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
