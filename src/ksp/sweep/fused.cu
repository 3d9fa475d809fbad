/// Fused sweeps: the product A x is never stored, and x is read once. A row is summed in the order
/// of the format's own product, so the iterates are those of MatMult() and JacobiSweep_CUDA().
#include "device/batched.cuh"
#include "device/cuda_check.hpp"
#include "ksp/sweep/launch.hpp"
#include "ksp/sweep/sweep.cuh"
#include "mat/formats/stencil/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

/// One thread a row in turn; the offsets are read once per block. Neighbouring threads read neighbouring a and x.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    dia_jacobi_kernel(DiaLayout A, JacobiSweep sweep, JacobiControl control)
{
  __shared__ PetscInt offset[JACOBI_DIAGONALS];
  PetscReal           norm = 0;

  if (jacobi_stopped(control)) return;
  for (PetscInt d = threadIdx.x; d < A.diagonals; d += JACOBI_THREADS) offset[d] = A.offset[d];
  __syncthreads();
  for (PetscInt row = static_cast<PetscInt>(blockIdx.x) * JACOBI_THREADS + threadIdx.x; row < A.rows;
       row += static_cast<PetscInt>(gridDim.x) * JACOBI_THREADS) {
    Scalar sum(0);
#pragma unroll 8
    for (PetscInt d = 0; d < A.diagonals; d++) {
      const PetscInt column = row + offset[d];
      if (column >= 0 && column < A.cols) {
        const Scalar a = load_stream(A.a + d * A.pitch + row), v = sweep.x[column];
        if (!IsPad(a)) sum += a * v;
      }
    }
    norm = joined(sweep.norm, norm, jacobi_row(sweep, row, sum));
  }
  finish_jacobi(sweep, control, norm);
}

/// One thread a row in turn. Neighbouring threads read neighbouring j and a; x is gathered.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    ell_jacobi_kernel(EllLayout A, JacobiSweep sweep, JacobiControl control)
{
  PetscReal norm = 0;

  if (jacobi_stopped(control)) return;
  for (PetscInt row = static_cast<PetscInt>(blockIdx.x) * JACOBI_THREADS + threadIdx.x; row < A.rows;
       row += static_cast<PetscInt>(gridDim.x) * JACOBI_THREADS) {
    Scalar sum(0);
#pragma unroll 4
    for (PetscInt k = 0; k < A.width; k++) {
      const PetscInt e = k * A.pitch + row, column = load_stream(A.j + e);
      if (column >= 0) sum += load_stream(A.a + e) * sweep.x[column];
    }
    norm = joined(sweep.norm, norm, jacobi_row(sweep, row, sum));
  }
  finish_jacobi(sweep, control, norm);
}

/// One thread a row in turn. Neighbouring threads mostly have one class: they read the same table entry, from L1, and
/// neighbouring x.
static __global__ void __launch_bounds__(JACOBI_THREADS)
    stencil_jacobi_kernel(StencilLayout A, JacobiSweep sweep, JacobiControl control)
{
  PetscReal norm = 0;

  if (jacobi_stopped(control)) return;
  for (PetscInt row = static_cast<PetscInt>(blockIdx.x) * JACOBI_THREADS + threadIdx.x; row < A.rows;
       row += static_cast<PetscInt>(gridDim.x) * JACOBI_THREADS) {
    const Scalar sum = stencil_row_sum<7>(A, load_stream(A.row_class + row), sweep.x + row, [] {});
    norm             = joined(sweep.norm, norm, jacobi_row(sweep, row, sum));
  }
  finish_jacobi(sweep, control, norm);
}

/// `width` neighbouring threads share a row and read neighbouring entries; x is gathered. All rows of a block go on to
/// the next together, as their threads exchange sums.
template <int width> static __global__ void __launch_bounds__(JACOBI_THREADS)
    csr_jacobi_kernel(CsrLayout A, JacobiSweep sweep, JacobiControl control)
{
  constexpr int ROWS = JACOBI_THREADS / width;
  const int     lane = threadIdx.x % width;
  PetscReal     norm = 0;

  if (jacobi_stopped(control)) return;
  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * ROWS; first < A.rows;
       first += static_cast<PetscInt>(gridDim.x) * ROWS) {
    const PetscInt row = first + threadIdx.x / width;
    Scalar         sum(0);
    if (row < A.rows)
      sum = batched_sum<4>(
          A.i[row] + lane, A.i[row + 1], width, [&](PetscInt e) { return A.a[e]; }, [&](PetscInt e) { return A.j[e]; },
          [&](PetscInt j) { return sweep.x[j]; });
    sum = group_sum<width>(sum);
    if (row < A.rows && lane == 0) norm = joined(sweep.norm, norm, jacobi_row(sweep, row, sum));
  }
  finish_jacobi(sweep, control, norm);
}

PetscErrorCode DiaJacobi_CUDA(const DiaLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  dia_jacobi_kernel<<<jacobi_blocks(A.rows, JACOBI_THREADS, multiprocessors), JACOBI_THREADS, 0,
                      static_cast<cudaStream_t>(stream)>>>(A, sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllJacobi_CUDA(const EllLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  ell_jacobi_kernel<<<jacobi_blocks(A.rows, JACOBI_THREADS, multiprocessors), JACOBI_THREADS, 0,
                      static_cast<cudaStream_t>(stream)>>>(A, sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilJacobi_CUDA(const StencilLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                  Stream stream)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  stencil_jacobi_kernel<<<jacobi_blocks(A.rows, JACOBI_THREADS, multiprocessors), JACOBI_THREADS, 0,
                          static_cast<cudaStream_t>(stream)>>>(A, sweep, control);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int width> static void Launch(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                        PetscInt multiprocessors, cudaStream_t stream)
{
  csr_jacobi_kernel<width>
      <<<jacobi_blocks(A.rows, JACOBI_THREADS / width, multiprocessors), JACOBI_THREADS, 0, stream>>>(A, sweep,
                                                                                                      control);
}

PetscErrorCode CsrJacobi_CUDA(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscInt           multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  switch (A.width) {
  case 1: Launch<1>(A, sweep, control, multiprocessors, s); break;
  case 2: Launch<2>(A, sweep, control, multiprocessors, s); break;
  case 4: Launch<4>(A, sweep, control, multiprocessors, s); break;
  case 8: Launch<8>(A, sweep, control, multiprocessors, s); break;
  case 16: Launch<16>(A, sweep, control, multiprocessors, s); break;
  default: Launch<32>(A, sweep, control, multiprocessors, s);
  }
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
