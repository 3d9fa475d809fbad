/// Fused sweeps: the product A x is never stored, and x is read once. A row is summed in the order
/// of the format's own product, so the iterates are those of MatMult() and JacobiSweep_CUDA().
#include "device/resident.cuh"
#include "ksp/sweep/launch.hpp"
#include "ksp/sweep/sweep.cuh"
#include "mat/formats/csr/row.cuh"
#include "mat/formats/dia/row.cuh"
#include "mat/formats/ell/row.cuh"
#include "mat/formats/stencil/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

/// The list of diagonals is read once per block. Neighbouring threads read neighbouring a and x.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    dia_jacobi_kernel(DiaLayout A, JacobiSweep sweep, JacobiControl control)
{
  __shared__ Diagonal diagonal[JACOBI_DIAGONALS];
  JacobiEpilogue      epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  for (PetscInt d = threadIdx.x; d < A.diagonals; d += JACOBI_THREADS) diagonal[d] = A.diagonal[d];
  __syncthreads();
  sweep_rows(A.rows, epilogue,
             [&](PetscInt row) { return dia_row_sum(A, A.diagonals, diagonal, row, sweep.x, Scalar(0)); });
  epilogue.Finish();
}

/// Neighbouring threads read neighbouring j and a; x is gathered.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    ell_jacobi_kernel(EllLayout A, JacobiSweep sweep, JacobiControl control)
{
  JacobiEpilogue epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  sweep_rows(A.rows, epilogue, [&](PetscInt row) { return ell_row_sum(A, row, sweep.x); });
  epilogue.Finish();
}

/// Neighbouring threads mostly have one class: they read the same table entry, from L1, and neighbouring x.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    stencil_jacobi_kernel(StencilLayout A, JacobiSweep sweep, JacobiControl control)
{
  JacobiEpilogue epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  sweep_rows(A.rows, epilogue,
             [&](PetscInt row) { return stencil_row_sum<7>(A, load_stream(A.row_class + row), sweep.x + row, [] {}); });
  epilogue.Finish();
}

/// `width` neighbouring threads share a row and read neighbouring entries; x is gathered. All rows of a block go on to
/// the next together, as their threads exchange sums.
template <int width> static __global__ void __launch_bounds__(JACOBI_THREADS)
    csr_jacobi_kernel(CsrLayout A, JacobiSweep sweep, JacobiControl control)
{
  constexpr int  ROWS = JACOBI_THREADS / width;
  const int      lane = threadIdx.x % width;
  JacobiEpilogue epilogue{sweep, control};

  if (jacobi_stopped(control)) return;
  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * ROWS; first < A.rows;
       first += static_cast<PetscInt>(gridDim.x) * ROWS) {
    const PetscInt row = first + threadIdx.x / width;
    Scalar         sum(0);
    if (row < A.rows) sum = csr_lane_sum<width>(A, A.i[row], A.i[row + 1], lane, sweep.x, [] {});
    sum = group_sum<width>(sum);
    if (row < A.rows && lane == 0) epilogue(row, sum);
  }
  epilogue.Finish();
}

/// at_once: rows of a block at a time.
template <auto kernel, class Layout> static PetscErrorCode BlocksOf(const Layout &A, PetscInt at_once, unsigned *blocks)
{
  PetscInt full;

  PetscFunctionBegin;
  PetscCall(ResidentBlocks<kernel>(JACOBI_THREADS, &full));
  *blocks = jacobi_blocks(A.rows, at_once, full);
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <auto kernel, class Layout> static PetscErrorCode Launch(const Layout &A, PetscInt at_once,
                                                                  const JacobiSweep   &sweep,
                                                                  const JacobiControl &control, Stream stream)
{
  unsigned blocks;

  PetscFunctionBegin;
  PetscCall(BlocksOf<kernel>(A, at_once, &blocks));
  kernel<<<blocks, JACOBI_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiaJacobi_CUDA(const DiaLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Launch<dia_jacobi_kernel>(A, JACOBI_THREADS, sweep, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllJacobi_CUDA(const EllLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Launch<ell_jacobi_kernel>(A, JACOBI_THREADS, sweep, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilJacobi_CUDA(const StencilLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                  Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Launch<stencil_jacobi_kernel>(A, JACOBI_THREADS, sweep, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrJacobi_CUDA(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(formats::WithRowWidth(A.width, [&](auto width) {
    constexpr int WIDTH = decltype(width)::value;
    return Launch<csr_jacobi_kernel<WIDTH>>(A, JACOBI_THREADS / WIDTH, sweep, control, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrJacobiBlocks_CUDA(const CsrLayout &A, unsigned *blocks)
{
  PetscFunctionBegin;
  PetscCall(formats::WithRowWidth(A.width, [&](auto width) {
    constexpr int WIDTH = decltype(width)::value;
    return BlocksOf<csr_jacobi_kernel<WIDTH>>(A, JACOBI_THREADS / WIDTH, blocks);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
