/// sell times several columns: `lanes` neighbouring lanes share a place, so that a slice is that many warps.
#include "mat/formats/many.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

namespace
{
struct SellChunks {
  SellLayout A;

  __device__ __forceinline__ RowChunk operator()(PetscInt number) const
  {
    RowChunk chunk = sell_chunk(A, number);
    chunk.row      = A.long_row[chunk.row];
    return chunk;
  }
};
} // namespace

/// The first blocks take a chunk of a very long row each, the next warps a long row each, all others a part of a slice.
/// Neighbouring places read neighbouring columns and values, the lanes of a place the same ones. Bitwise reproducible,
/// whatever the codecs; short rows have the bits of a product with one column.
template <int lanes, class Values> static __global__ void __launch_bounds__(THREADS, 4)
    sell_many_kernel(SellLayout A, Values stored, DenseRows d)
{
  constexpr int           PLACES = 32 / lanes; ///< of a warp
  const PetscInt          warp   = (static_cast<PetscInt>(blockIdx.x) - A.chunks) * (THREADS / 32) + threadIdx.x / 32;
  const int               lane = static_cast<int>(threadIdx.x % 32), q = lane % lanes;
  const Values            a = stage(stored);
  const GatherRows<lanes> x{d.x + q};

  if (warp < 0) {
    dense_chunk<lanes>(
        SellChunks{A}(blockIdx.x), blockIdx.x, d, [&](PetscInt e) { return load_one(a, A.long_values + e); },
        [&](PetscInt e) { return load_stream(A.long_j + e); });
    return;
  }
  if (warp < A.warp_rows) {
    DensePiece sum = batched_sum<4>(
        A.long_begin[warp] + lane / lanes, A.long_begin[warp + 1], PLACES,
        [&](PetscInt e) { return load_one(a, A.long_values + e); },
        [&](PetscInt e) { return load_stream(A.long_j + e); }, x);
    sum_ways<lanes, PLACES>(sum);
    if (lane < lanes) d.Store(A.long_row[warp], q, sum);
    return;
  }
  const PetscInt part = warp - A.warp_rows, s = part / lanes;
  const int      place = static_cast<int>(part % lanes) * PLACES + lane / lanes;
  if (s >= A.slices || s * 32 + place >= A.rows) return;
  const int length = place_length(A, s * 32 + place);
  if (length == SellLayout::NOT_HERE) return;
  const DensePiece sum = slice_row_sum(SellSliceOf(A, s), length, place, a, x);
  d.Store(place_row(A, s * 32 + place), q, sum);
}

PetscErrorCode SellMultDense_CUDA(const SellLayout &A, const ValueLayout &a, PetscInt cols, const DenseColumns &d,
                                  DeviceMemory *scratch, Stream stream)
{
  constexpr PetscCount WARPS = THREADS / 32;
  const cudaStream_t   s     = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const auto multiply = [&](auto lanes, const DenseRows &rows) -> PetscErrorCode {
    constexpr int    LANES  = decltype(lanes)::value;
    const PetscCount blocks = A.chunks + (A.warp_rows + static_cast<PetscCount>(A.slices) * LANES + WARPS - 1) / WARPS;

    PetscFunctionBegin;
    WithValues(a, [&](const auto &values) {
      sell_many_kernel<LANES><<<static_cast<unsigned>(blocks), THREADS, 0, s>>>(A, values, rows);
    });
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscCall(AddChunks<LANES>(SellChunks{A}, A.chunks, rows, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MultGroups(cols, A.chunks, d, scratch, s, multiply, [&](const Scalar *x, Scalar *z) {
    return SellMult_CUDA(A, a, x, {nullptr, z}, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
