/// sell times several columns: `lanes` neighbouring lanes share a place, so that a slice is that many warps.
#include "mat/formats/many.cuh"
#include "mat/formats/sell/slice.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
struct SellChunks {
  SellLayout A;

  __device__ __forceinline__ DenseChunk operator()(PetscInt number) const
  {
    const PetscInt l = A.chunk_row[number], begin = A.chunk_begin[number];
    const PetscInt first = A.long_begin[l], last = A.long_begin[l + 1];
    return DenseChunk{A.long_row[l], begin, begin + SellLayout::CHUNK < last ? begin + SellLayout::CHUNK : last,
                      (begin - first) / SellLayout::CHUNK, (last - first + SellLayout::CHUNK - 1) / SellLayout::CHUNK};
  }
};
} // namespace

/// The sums of one place for the columns of a lane, as slice_sum() for one column: the same entries in the same order.
/// x: the lane's piece of row 0.
template <int lanes, class Column, class Values>
__device__ __forceinline__ DensePiece slice_rows(const SellSlice &slice, int length, int place, const Values &a,
                                                 const DensePiece *x)
{
  constexpr bool       BASES = sizeof(Column) < 4;
  const unsigned char *at    = slice.columns;
  PetscInt             k = 0, e = slice.begin, j[4];
  DensePiece           sum = {};

  // the columns of a group, ahead of the products of the one before it
  const auto columns = [&]() {
    if (k + 4 > slice.width || k >= length) return false;
    Four<Column>::get(at + (BASES ? SellLayout::UNIT : 0), place, j);
    if (BASES) {
      const uint4 base = __ldg(reinterpret_cast<const uint4 *>(at)); // the same for all lanes
      j[0] += static_cast<PetscInt>(base.x);
      j[1] += static_cast<PetscInt>(base.y);
      j[2] += static_cast<PetscInt>(base.z);
      j[3] += static_cast<PetscInt>(base.w);
    }
    at += (BASES ? SellLayout::UNIT : 0) + 4 * 32 * sizeof(Column);
    return true;
  };

  for (bool more = columns(); more;) {
    Scalar     v[4];
    DensePiece u[4];
    load_pair(a, e + 2 * place, v);
    load_pair(a, e + 64 + 2 * place, v + 2);
#pragma unroll
    for (int q = 0; q < 4; q++) u[q] = piece_of<lanes>(x, j[q]);
    const PetscInt left = length - k;
    k += 4;
    e += 4 * 32;
    more = columns();
#pragma unroll
    for (int q = 0; q < 4; q++)
      if (q < left) add_product(sum, v[q], u[q]);
  }
  const PetscInt       rest = slice.width & 3;
  const std::uint32_t *base = reinterpret_cast<const std::uint32_t *>(at);
  const Column        *d    = reinterpret_cast<const Column *>(at + (BASES ? SellLayout::UNIT : 0)) + place;
  const PetscInt       left = rest < length - k ? rest : length - k;
  Scalar               v[3];
  DensePiece           u[3];
#pragma unroll
  for (int q = 0; q < 3; q++) {
    const PetscInt column =
        q < left ? static_cast<PetscInt>(load_stream(d + 32 * q)) + (BASES ? static_cast<PetscInt>(base[q]) : 0) : 0;
    v[q] = q < left ? load_one(a, slice.begin + SellSlot(slice.width, k + q, place)) : Scalar(0);
    u[q] = q < left ? piece_of<lanes>(x, column) : DensePiece();
  }
#pragma unroll
  for (int q = 0; q < 3; q++)
    if (q < left) add_product(sum, v[q], u[q]);
  return sum;
}

/// The first blocks take a chunk of a very long row each, the next warps a long row each, all others a part of a slice.
/// Neighbouring places read neighbouring columns and values, the lanes of a place the same ones. Bitwise reproducible,
/// whatever the codecs; short rows have the bits of a product with one column.
template <int lanes, class Values> static __global__ void __launch_bounds__(THREADS, 4)
    sell_many_kernel(SellLayout A, Values stored, DenseRows d)
{
  constexpr int     PLACES = 32 / lanes; ///< of a warp
  const PetscInt    warp   = (static_cast<PetscInt>(blockIdx.x) - A.chunks) * (THREADS / 32) + threadIdx.x / 32;
  const int         lane = static_cast<int>(threadIdx.x % 32), q = lane % lanes;
  const Values      a = stage(stored);
  const DensePiece *x = d.x + q;

  if (warp < 0) {
    dense_chunk<lanes>(
        SellChunks{A}(blockIdx.x), blockIdx.x, d, [&](PetscInt e) { return load_one(a, A.long_values + e); },
        [&](PetscInt e) { return load_stream(A.long_j + e); });
    return;
  }
  if (warp < A.warp_rows) {
    DensePiece sum = batched_rows<4, lanes>(
        A.long_begin[warp] + lane / lanes, A.long_begin[warp + 1], PLACES, x,
        [&](PetscInt e) { return load_one(a, A.long_values + e); },
        [&](PetscInt e) { return load_stream(A.long_j + e); });
    sum_ways<lanes, PLACES>(sum);
    if (lane < lanes) d.Store(A.long_row[warp], q, sum);
    return;
  }
  const PetscInt part = warp - A.warp_rows, s = part / lanes;
  const int      place = static_cast<int>(part % lanes) * PLACES + lane / lanes;
  if (s >= A.slices || s * 32 + place >= A.rows) return;
  const int length = place_length(A, s * 32 + place);
  if (length == SellLayout::NOT_HERE) return;
  const SellSlice  slice = SellSliceOf(A, s);
  const DensePiece sum   = slice.bytes == 1   ? slice_rows<lanes, std::uint8_t>(slice, length, place, a, x)
                           : slice.bytes == 2 ? slice_rows<lanes, std::uint16_t>(slice, length, place, a, x)
                                              : slice_rows<lanes, std::uint32_t>(slice, length, place, a, x);
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
  PetscCall(MultGroups(cols, A.chunks, d, scratch, s, multiply,
                       [&](const Scalar *x, Scalar *z) { return SellMult_CUDA(A, a, x, nullptr, z, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
