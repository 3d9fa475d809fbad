/// The product of sliced ELLPACK on the GPU: a thread per short row, a warp per long one, thread blocks for the
/// longest.
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/launch.cuh"
#include "mat/formats/dots.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// epilogue(row, A x). The first blocks take a chunk of a very long row each, the next warps a long row each, all
/// others a slice: one thread per row, neighbouring threads read neighbouring columns and values; x is gathered.
/// Bitwise reproducible, whatever the codecs. Starts while the kernel before it ends, as only values and vectors may
/// come from there.
template <class Values, class Epilogue> static __global__ void __launch_bounds__(THREADS, 5)
    sell_kernel(SellLayout A, Values stored, const Scalar *x, Epilogue epilogue)
{
  const PetscInt warp   = (static_cast<PetscInt>(blockIdx.x) - A.chunks) * (THREADS / 32) + threadIdx.x / 32;
  const PetscInt s      = warp - A.warp_rows;
  const int      lane   = threadIdx.x % 32;
  int            length = SellLayout::NOT_HERE;
  std::ptrdiff_t row    = 0; // the width of an address: fewer registers are moved before the epilogue
  SellSlice      slice  = {};
  if (s >= 0 && s < A.slices && s * 32 + lane < A.rows) {
    slice  = SellSliceOf(A, s);
    length = place_length(A, s * 32 + lane);
    row    = place_row(A, s * 32 + lane);
  }
  if (epilogue.Skip()) return;
  begin_in_turn();
  const Values a = stage(stored);
  if (warp < 0) {
    const RowChunk chunk = sell_chunk(A, blockIdx.x);
    add_chunks<THREADS>(chunk, blockIdx.x, sell_chunk_sum<THREADS>(A, chunk, a, x), A.chunk_sum, A.arrived,
                        [&](const Scalar &sum) { epilogue(A.long_row[chunk.row], sum); });
  } else if (s < 0) {
    const Scalar sum = warp_row_sum(A, warp, lane, a, x);
    if (lane == 0) epilogue(A.long_row[warp], sum);
  } else if (length != SellLayout::NOT_HERE) {
    epilogue.Prepare(row);
    const Scalar sum = slice_row_sum(slice, length, lane, a, Gather{x});
    epilogue(row, sum);
  }
  epilogue.Finish();
}

template <class Epilogue> static PetscErrorCode Multiply(const SellLayout &A, const ValueLayout &a, const Scalar *x,
                                                         const Epilogue &epilogue, Stream stream)
{
  constexpr PetscInt WARPS = THREADS / 32;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const PetscInt blocks = A.chunks + (A.warp_rows + A.slices + WARPS - 1) / WARPS;
  PetscCall(WithValues(a, [&](const auto &values) {
    return LaunchEarly<sell_kernel<std::decay_t<decltype(values)>, Epilogue>>(
        blocks, THREADS, static_cast<cudaStream_t>(stream), A, values, x, epilogue);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellMult_CUDA(const SellLayout &A, const ValueLayout &a, const Scalar *x, const ProductTarget &to,
                             Stream stream, const comm::DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(SendAlong(A.rows, exchange, x, StoreSum{to}, stream,
                      [&](const auto &epilogue) { return Multiply(A, a, x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellMultDots_CUDA(const SellLayout &A, const ValueLayout &a, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(MultiplyAndDot(A.rows, dots, stream,
                           [&](const auto &epilogue) { return Multiply(A, a, dots.x, epilogue, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
