/// The product of classes of rows on the GPU: one thread per row, or for several rows of a large grid.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "mat/formats/difference.cuh"
#include "mat/formats/dots.cuh"
#include "mat/formats/stencil/lines.cuh"
#include "mat/formats/stencil/row.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// epilogue(row, A x), one thread per row, `batch` entries at a time. Neighbouring threads mostly have one class: they
/// read the same table entry, from L1, and neighbouring x. Bitwise reproducible. Starts while the kernel before it
/// ends, as only vectors may come from there.
template <int batch, class Vector, class Epilogue> static __global__ void __launch_bounds__(THREADS)
    stencil_kernel(StencilLayout A, Vector from, Epilogue epilogue)
{
  const PetscInt row = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x;
  const int      c   = row < A.rows ? load_stream(A.row_class + row) : 0;

  if (epilogue.Skip()) return;
  const auto x = begin_reading(from);
  if (row < A.rows) {
    const Scalar sum = stencil_row_sum<batch>(A, c, x + row, [&] {
      begin_in_turn();
      epilogue.Prepare(row);
    });
    epilogue(row, sum);
  }
  epilogue.Finish();
}

namespace
{
/// Which rows a thread of a large matrix takes: STEPS of them, `stride` rows apart. Where that is the step from a line
/// or a plane of a grid to the next, most of a block's x stays in its L1 cache, and a thread has mostly one class, so
/// that it reads the table once. The constants were measured: docs/performance.md.
struct Walk {
  static constexpr int STEPS = 3, BATCH = 3, BLOCKS = 6; ///< BLOCKS at a time on a multiprocessor
  /// The same where x is a difference: of registers for twice the loads.
  template <class Vector> static constexpr int Resident() { return std::is_pointer_v<Vector> ? BLOCKS : 4; }

  PetscInt stride;
  PetscInt chunks; ///< parts for rows 0 .. stride - 1
  PetscInt parts;  ///< of the matrix: the rows that a block takes at a time
};
} // namespace

/// The classes of the thread's rows of a part, -1 for none; its first row.
__device__ __forceinline__ PetscInt classes_of_part(const StencilLayout &A, const Walk &walk, PetscInt part,
                                                    int (&c)[Walk::STEPS])
{
  const PetscInt first = part % walk.chunks * THREADS + static_cast<PetscInt>(threadIdx.x);
  const PetscInt row   = part / walk.chunks * Walk::STEPS * walk.stride + first;
#pragma unroll
  for (int k = 0; k < Walk::STEPS; k++)
    c[k] =
        first < walk.stride && A.rows - row > k * walk.stride ? load_stream(A.row_class + row + k * walk.stride) : -1;
  return row;
}

/// epilogue(row, A x) for the thread's rows of a part, `row` the first, of classes c.
template <class Vector, class Epilogue>
__device__ __forceinline__ void walk_part(const StencilLayout &A, PetscInt stride, PetscInt row,
                                          const int (&c)[Walk::STEPS], const Vector &x, Epilogue &epilogue)
{
  constexpr int STEPS = Walk::STEPS, BATCH = Walk::BATCH;
  bool          alike = true;

#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    if (c[k] >= 0) epilogue.Prepare(row + k * stride);
    alike = alike && c[k] == c[0];
  }
  if (c[0] >= 0 && alike) {
    Scalar sum[STEPS] = {};
    stencil_rows_sum<STEPS, BATCH>(A, c[0], x + row, stride, sum);
#pragma unroll
    for (int k = 0; k < STEPS; k++) epilogue(row + k * stride, sum[k]);
  } else if (c[0] >= 0) {
#pragma unroll 1
    for (PetscInt r = row, k = 0; k < STEPS && r < A.rows; r += stride, k++)
      epilogue(r, stencil_row_sum<BATCH>(A, A.row_class[r], x + r, [] {}));
  }
}

/// epilogue(row, A x) for STEPS rows per thread of a part: a block a part or, in_turn, parts one after the other.
/// Bitwise reproducible; starts early as stencil_kernel() does.
template <bool in_turn, class Vector, class Epilogue>
static __global__ void __launch_bounds__(THREADS, Walk::Resident<Vector>())
    stencil_walk_kernel(StencilLayout A, Walk walk, Vector from, Epilogue epilogue)
{
  int      c[Walk::STEPS], next[Walk::STEPS];
  PetscInt row = classes_of_part(A, walk, blockIdx.x, c), ahead = 0;

  if (epilogue.Skip()) return;
  const auto x = begin_reading(from);
  begin_in_turn();
  if (!in_turn) {
    walk_part(A, walk.stride, row, c, x, epilogue);
  } else {
    for (PetscInt part = blockIdx.x;; part += gridDim.x) {
      const bool more = walk.parts - part > static_cast<PetscInt>(gridDim.x);
      if (more) ahead = classes_of_part(A, walk, part + gridDim.x, next);
      walk_part(A, walk.stride, row, c, x, epilogue);
      if (!more) break;
      row = ahead;
#pragma unroll
      for (int k = 0; k < Walk::STEPS; k++) c[k] = next[k];
    }
  }
  epilogue.Finish();
}

template <bool in_turn, class Vector, class Epilogue>
static PetscErrorCode LaunchWalk(const StencilLayout &A, PetscInt blocks, const Walk &walk, const Vector &x,
                                 const Epilogue &epilogue, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(
      (LaunchEarly<stencil_walk_kernel<in_turn, Vector, Epilogue>>(blocks, THREADS, stream, A, walk, x, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int batch, class Vector, class Epilogue>
static PetscErrorCode Launch(const StencilLayout &A, const Vector &x, const Epilogue &epilogue, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall((LaunchEarly<stencil_kernel<batch, Vector, Epilogue>>((A.rows - 1) / THREADS + 1, THREADS, stream, A, x,
                                                                  epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Vector, class Epilogue>
static PetscErrorCode Multiply(const StencilLayout &A, const Vector &x, const Epilogue &epilogue, cudaStream_t s)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  if constexpr (std::is_same_v<Vector, const Scalar *>) {
    if (A.lines && LiesForLines(x) && TakesLines(epilogue)) {
      PetscCall(MultiplyLines(A, x, epilogue, s));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if constexpr (SENDS<Epilogue>)
    PetscCheck(!epilogue.exchange.complete, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Rows with ghosts are taken by walks alone");
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  // rows enough for all blocks at a time and for walks of their full length, and so few that numbers beyond the last
  // fit
  if (A.stride > 0 && A.rows >= StencilRowsToWalk(multiprocessors) && A.rows / (2 * Walk::STEPS) >= A.stride &&
      A.rows <= PETSC_MAX_INT / 2) {
    const PetscInt chunks = (A.stride - 1) / THREADS + 1, slabs = (A.rows - 1) / (Walk::STEPS * A.stride) + 1;
    const PetscInt parts = slabs * chunks, together = multiprocessors * Walk::Resident<Vector>();
    const Walk     walk{A.stride, chunks, parts};
    if constexpr (ADDS_UP<Epilogue>) {
      if (A.longest <= SHORT_ROW && together < parts) {
        PetscCall(LaunchWalk<true>(A, together, walk, x, epilogue, s));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
    PetscCall(LaunchWalk<false>(A, parts, walk, x, epilogue, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // a row in one batch where it is short: five points, seven; nine, and 27 and 81 as three and nine times nine
  if (A.longest <= 5)
    PetscCall(Launch<5>(A, x, epilogue, s));
  else if (A.longest <= 7)
    PetscCall(Launch<7>(A, x, epilogue, s));
  else
    PetscCall(Launch<9>(A, x, epilogue, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                                const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream, [&](const auto &epilogue) {
    return Multiply(A, x, epilogue, static_cast<cudaStream_t>(stream));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilMultDots_CUDA(const StencilLayout &A, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  if (dots.exchange && dots.exchange->complete) {
    const cudaStream_t s = static_cast<cudaStream_t>(stream);
    PetscCheck(A.lines && dots.kind != ProductSums::Minimise, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Rows with ghosts are taken by walks alone");
    if (dots.kind == ProductSums::Conjugate)
      PetscCall(MultiplyLines(A, dots.x, Sending<StoreAndDot>{{dots}, *dots.exchange, dots.x}, s));
    else
      PetscCall(MultiplyLines(A, dots.x, Sending<ShadowDots<false>>{{{dots}}, *dots.exchange, dots.x}, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MultiplyAndDot(A.rows, dots, stream, [&](const auto &epilogue) {
    return WithFactorOf(dots, epilogue,
                        [&](const auto &x) { return Multiply(A, x, epilogue, static_cast<cudaStream_t>(stream)); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
