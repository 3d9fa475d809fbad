/// Products with several columns on the device, for formats whose entries may be in any column. X is first copied to
/// row-major order: an entry's factors are then one piece (64 bytes for 8 columns of doubles) instead of one sector of
/// 32 bytes per column. The lanes of a row read neighbouring columns of the piece, 16 bytes each.
/// Columns are taken in groups of GROUP: larger groups would drive X out of the level-2 cache for matrices large enough
/// to be worth a GPU.
#pragma once

#include <type_traits>
#include "device/batched.cuh"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/chunk.cuh"
#include "mat/formats/dense.hpp"

namespace sparsegpu::formats
{

namespace many
{
constexpr int PER_LANE = static_cast<int>(16 / sizeof(Scalar)); ///< columns
constexpr int GROUP    = 8;                                     ///< columns at a time

/// Lanes that take `columns` columns.
constexpr int Lanes(int columns)
{
  return columns > PER_LANE ? columns / PER_LANE : 1;
}
} // namespace many

/// The columns of one lane in a row of X or Z: one load.
struct alignas(16) DensePiece {
  Scalar v[many::PER_LANE];
};

/// A group of columns as kernels see it.
struct DenseRows {
  const DensePiece *x;       ///< [cols * lanes] piece q of row j at j * lanes + q
  DensePiece       *partial; ///< [chunks of long rows * lanes] scratch
  int               count;   ///< columns, at most lanes * PER_LANE
  Scalar           *z;       ///< [ldz * (count - 1) + rows] by columns
  PetscInt          ldz;

  __device__ __forceinline__ void Store(PetscInt row, int q, const DensePiece &sum) const
  {
#pragma unroll
    for (int k = 0; k < many::PER_LANE; k++) {
      const int c = q * many::PER_LANE + k;
      if (c < count) z[static_cast<std::ptrdiff_t>(c) * ldz + row] = sum.v[k];
    }
  }
};

__device__ __forceinline__ void add_product(DensePiece &sum, const Scalar &a, const DensePiece &u)
{
#pragma unroll
  for (int k = 0; k < many::PER_LANE; k++) sum.v[k] += a * u.v[k];
}
__device__ __forceinline__ void add_piece(DensePiece &sum, const DensePiece &u)
{
#pragma unroll
  for (int k = 0; k < many::PER_LANE; k++) sum.v[k] += u.v[k];
}
/// A lane's piece of row j of X, for row sums.
template <int lanes> struct GatherRows {
  const DensePiece *x; ///< the lane's piece of row 0

  __device__ __forceinline__ DensePiece operator()(PetscInt j) const
  {
    return x[static_cast<std::ptrdiff_t>(j) * lanes];
  }
};

/// Sum over the `ways` groups of `lanes` neighbouring lanes, lane by lane, to all of them. All 32 lanes must call.
template <int lanes, int ways> __device__ __forceinline__ void sum_ways(DensePiece &sum)
{
#pragma unroll
  for (int mask = lanes * ways / 2; mask >= lanes; mask /= 2)
#pragma unroll
    for (int k = 0; k < many::PER_LANE; k++) sum.v[k] += shuffle_xor(sum.v[k], mask, 32);
}

/// One chunk by one thread block of THREADS; all threads must call. The sums of a row with a single chunk go to Z,
/// those of others to `partial`, for AddChunks(). Bitwise reproducible.
template <int lanes, class Value, class Column>
__device__ __forceinline__ void dense_chunk(const RowChunk &chunk, PetscInt number, const DenseRows &d, Value value,
                                            Column column)
{
  __shared__ DensePiece warps[THREADS / 32 * lanes];
  const int             thread = static_cast<int>(threadIdx.x), q = thread % lanes;
  DensePiece            sum = batched_sum<4>(chunk.begin + thread / lanes, chunk.end, THREADS / lanes, value, column,
                                  GatherRows<lanes>{d.x + q});

  sum_ways<lanes, 32 / lanes>(sum);
  if (thread % 32 < lanes) warps[thread / 32 * lanes + q] = sum;
  __syncthreads();
  if (thread >= lanes) return;
  for (int w = 1; w < THREADS / 32; w++) add_piece(sum, warps[w * lanes + q]);
  if (chunk.chunks > 1)
    d.partial[static_cast<std::ptrdiff_t>(number) * lanes + q] = sum;
  else
    d.Store(chunk.row, q, sum);
}

/// Z of the rows with several chunks, from the chunks' sums in order. One warp per chunk; only the warps of first
/// chunks work. `chunks(number)`: a RowChunk.
template <int lanes, class Chunks> static __global__ void __launch_bounds__(THREADS)
    dense_chunks_kernel(Chunks chunks, PetscInt count, DenseRows d)
{
  const PetscInt number = static_cast<PetscInt>(thread_index() / 32);
  const int      lane = static_cast<int>(threadIdx.x % 32), q = lane % lanes;

  if (number >= count) return;
  const RowChunk chunk = chunks(number);
  if (chunk.first < number || chunk.chunks == 1) return;
  DensePiece sum = {};
  for (PetscInt c = lane / lanes; c < chunk.chunks; c += 32 / lanes)
    add_piece(sum, d.partial[static_cast<std::ptrdiff_t>(number + c) * lanes + q]);
  sum_ways<lanes, 32 / lanes>(sum);
  if (lane < lanes) d.Store(chunk.row, q, sum);
}
template <int lanes, class Chunks>
PetscErrorCode AddChunks(const Chunks &chunks, PetscInt count, const DenseRows &d, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  dense_chunks_kernel<lanes><<<Blocks(static_cast<PetscCount>(count) * 32), THREADS, 0, stream>>>(chunks, count, d);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// rows[j * lanes + q] = piece q of row j of X, 0 beyond its last column. A thread per piece: neighbouring ones write
/// neighbouring pieces, and read whole sectors of the columns.
template <int lanes> static __global__ void __launch_bounds__(THREADS)
    dense_rows_kernel(PetscInt cols, DenseColumns d, DensePiece *rows)
{
  const PetscCount piece = thread_index();
  const PetscInt   row   = static_cast<PetscInt>(piece / lanes);
  DensePiece       p     = {};

  if (piece >= static_cast<PetscCount>(cols) * lanes) return;
#pragma unroll
  for (int k = 0; k < many::PER_LANE; k++) {
    const int c = static_cast<int>(piece % lanes) * many::PER_LANE + k;
    if (c < d.count) p.v[k] = load_stream(d.X(c) + row);
  }
  rows[piece] = p;
}

/// multiply(std::integral_constant<int, lanes>(), DenseRows) for each group of columns, X having been brought to rows;
/// one(x, z) for a column that is left alone. `chunks`: of long rows.
template <class Multiply, class One> PetscErrorCode MultGroups(PetscInt cols, PetscInt chunks, const DenseColumns &d,
                                                               DeviceMemory *scratch, cudaStream_t stream,
                                                               Multiply multiply, One one)
{
  const auto group = [&](auto lanes, const DenseColumns &part) -> PetscErrorCode {
    constexpr int    LANES  = decltype(lanes)::value;
    const PetscCount pieces = static_cast<PetscCount>(cols) * LANES;

    PetscFunctionBegin;
    PetscCall(
        scratch->Reserve((static_cast<size_t>(pieces) + static_cast<size_t>(chunks) * LANES) * sizeof(DensePiece)));
    DensePiece *rows = static_cast<DensePiece *>(scratch->data());
    if (pieces) {
      dense_rows_kernel<LANES><<<Blocks(pieces), THREADS, 0, stream>>>(cols, part, rows);
      SparseGPUCallCUDA(cudaPeekAtLastError());
    }
    PetscCall(multiply(lanes, DenseRows{rows, rows + pieces, static_cast<int>(part.count), part.z, part.ldz}));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  for (PetscInt c = 0; c < d.count; c += many::GROUP) {
    const DenseColumns part = d.Part(c, d.count - c < many::GROUP ? d.count - c : many::GROUP);
    if (part.count == 1)
      PetscCall(one(part.x, part.z));
    else if (part.count == 2)
      PetscCall(group(std::integral_constant<int, many::Lanes(2)>(), part));
    else if (part.count <= 4)
      PetscCall(group(std::integral_constant<int, many::Lanes(4)>(), part));
    else
      PetscCall(group(std::integral_constant<int, many::Lanes(many::GROUP)>(), part));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
