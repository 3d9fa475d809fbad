#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "mat/formats/stencil/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256; // any multiple of 32

/// z = A x + y, one thread per row, `batch` entries at a time. Neighbouring threads mostly have one class: they read
/// the same table entry, from L1, and neighbouring x. Bitwise reproducible. Starts while the kernel before it ends, as
/// only vectors may come from there.
template <int batch> static __global__ void __launch_bounds__(THREADS)
    stencil_kernel(StencilLayout A, const Scalar *x, const Scalar *y, Scalar *z)
{
  const PetscInt row = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;

  if (row >= A.rows) return;
  const Scalar sum = stencil_row_sum<batch>(A, load_stream(A.row_class + row), x + row, [] { begin_in_turn(); });
  z[row]           = y ? y[row] + sum : sum;
}

namespace
{
/// Which rows a thread of a large matrix takes: STEPS of them, `stride` rows apart. Where that is the way from a line
/// or a plane of a grid to the next, a block meets most of x again in its L1 cache, and a thread mostly one class, so
/// that it looks at the table once. What is best was measured: docs/performance.md.
struct Walk {
  static constexpr int STEPS = 3, BATCH = 3, BLOCKS = 6; ///< BLOCKS at a time on a multiprocessor

  PetscInt stride;
  PetscInt chunks; ///< blocks for rows 0 .. stride - 1
};
} // namespace

static __global__ void __launch_bounds__(THREADS, Walk::BLOCKS)
    stencil_walk_kernel(StencilLayout A, Walk walk, const Scalar *x, const Scalar *y, Scalar *z)
{
  constexpr int  STEPS = Walk::STEPS, BATCH = Walk::BATCH;
  const PetscInt stride = walk.stride, chunk = static_cast<PetscInt>(blockIdx.x) % walk.chunks;
  const PetscInt first = chunk * THREADS + static_cast<PetscInt>(threadIdx.x);
  const PetscInt row   = static_cast<PetscInt>(blockIdx.x) / walk.chunks * STEPS * stride + first;
  int            c[STEPS];
  bool           alike = true;

#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    c[k]  = first < stride && A.rows - row > k * stride ? load_stream(A.row_class + row + k * stride) : -1;
    alike = alike && c[k] == c[0];
  }
  begin_in_turn();
  if (c[0] < 0) return;
  if (!alike) {
#pragma unroll 1
    for (PetscInt r = row, k = 0; k < STEPS && r < A.rows; r += stride, k++) {
      const Scalar sum = stencil_row_sum<BATCH>(A, A.row_class[r], x + r, [] {});
      z[r]             = y ? y[r] + sum : sum;
    }
    return;
  }
  const PetscInt end        = A.begin[c[0] + 1];
  Scalar         sum[STEPS] = {};
  for (PetscInt e = A.begin[c[0]]; e < end; e += BATCH) {
    Scalar u[BATCH][STEPS], value[BATCH];
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      const Scalar *at = x + row + (q < end - e ? A.offset[e + q] : 0);
#pragma unroll
      for (int k = 0; k < STEPS; k++) u[q][k] = q < end - e ? at[k * stride] : Scalar(0);
    }
#pragma unroll
    for (int q = 0; q < BATCH; q++) value[q] = q < end - e ? A.value[e + q] : Scalar(0);
#pragma unroll
    for (int q = 0; q < BATCH; q++)
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        if (q < end - e) sum[k] += value[q] * u[q][k];
  }
#pragma unroll
  for (int k = 0; k < STEPS; k++) z[row + k * stride] = y ? y[row + k * stride] + sum[k] : sum[k];
}

template <int batch>
static PetscErrorCode Launch(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(LaunchEarly<stencil_kernel<batch>>((A.rows - 1) / THREADS + 1, THREADS, stream, A, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscInt           multiprocessors;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  // rows enough for all blocks at a time and for walks of their full length, and so few that numbers beyond the last
  // fit
  if (A.stride > 0 && A.rows / Walk::STEPS >= multiprocessors * Walk::BLOCKS * THREADS &&
      A.rows / (2 * Walk::STEPS) >= A.stride && A.rows <= PETSC_MAX_INT / 2) {
    const PetscInt chunks = (A.stride - 1) / THREADS + 1, slabs = (A.rows - 1) / (Walk::STEPS * A.stride) + 1;
    PetscCall(LaunchEarly<stencil_walk_kernel>(slabs * chunks, THREADS, s, A, Walk{A.stride, chunks}, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // a row in one batch where it is short: five points, seven; nine, and 27 and 81 as three and nine times nine
  if (A.longest <= 5)
    PetscCall(Launch<5>(A, x, y, z, s));
  else if (A.longest <= 7)
    PetscCall(Launch<7>(A, x, y, z, s));
  else
    PetscCall(Launch<9>(A, x, y, z, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
