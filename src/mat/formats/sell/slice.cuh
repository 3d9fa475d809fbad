/// The row sums of sliced ELLPACK, for every kernel that walks its rows.
#pragma once

#include <cstdint>
#include "device/batched.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/chunk.cuh"
#include "mat/formats/codec/values.cuh"
#include "mat/formats/sell/sell.hpp"

namespace sparsegpu::formats
{

/// Four differences of a lane: one load.
template <class Column> struct Four;
template <> struct Four<std::uint8_t> {
  static __device__ __forceinline__ void get(const unsigned char *p, int lane, PetscInt *j)
  {
    const std::uint32_t v = load_stream(reinterpret_cast<const std::uint32_t *>(p) + lane);
    j[0]                  = v & 0xff;
    j[1]                  = v >> 8 & 0xff;
    j[2]                  = v >> 16 & 0xff;
    j[3]                  = v >> 24;
  }
};
template <> struct Four<std::uint16_t> {
  static __device__ __forceinline__ void get(const unsigned char *p, int lane, PetscInt *j)
  {
    const uint2 v = load_stream(reinterpret_cast<const uint2 *>(p) + lane);
    j[0]          = v.x & 0xffff;
    j[1]          = v.x >> 16;
    j[2]          = v.y & 0xffff;
    j[3]          = v.y >> 16;
  }
};
template <> struct Four<std::uint32_t> {
  static __device__ __forceinline__ void get(const unsigned char *p, int lane, PetscInt *j)
  {
    const uint4 v = load_stream(reinterpret_cast<const uint4 *>(p) + lane);
    j[0]          = static_cast<PetscInt>(v.x);
    j[1]          = static_cast<PetscInt>(v.y);
    j[2]          = static_cast<PetscInt>(v.z);
    j[3]          = static_cast<PetscInt>(v.w);
  }
};

/// The sum of one lane's row: groups of four entries, all their loads before the first product, then what remains.
/// Entries beyond the row's length are never added, so that padding cannot let an Inf or NaN of x in.
template <class Column, class Values, class X>
__device__ __forceinline__ auto slice_sum(const SellSlice &slice, int length, int lane, const Values &a, const X &x)
{
  using Sum                  = std::decay_t<decltype(x(PetscInt(0)))>;
  constexpr bool       BASES = sizeof(Column) < 4;
  const unsigned char *at    = slice.columns;
  PetscInt             k = 0, e = slice.begin;
  Sum                  sum = {};

  PetscInt j[4];
  // the columns of a group, ahead of the products of the one before it
  const auto columns = [&]() {
    if (k + 4 > slice.width || k >= length) return false;
    Four<Column>::get(at + (BASES ? SellLayout::UNIT : 0), lane, j);
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
    Scalar v[4];
    Sum    u[4];
    load_pair(a, e + 2 * lane, v);
    load_pair(a, e + 64 + 2 * lane, v + 2);
#pragma unroll
    for (int q = 0; q < 4; q++) u[q] = x(j[q]);
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
  const Column        *d    = reinterpret_cast<const Column *>(at + (BASES ? SellLayout::UNIT : 0)) + lane;
  const PetscInt       left = rest < length - k ? rest : length - k;
  Scalar               v[3];
  Sum                  u[3];
#pragma unroll
  for (int q = 0; q < 3; q++) {
    const PetscInt j =
        q < left ? static_cast<PetscInt>(load_stream(d + 32 * q)) + (BASES ? static_cast<PetscInt>(base[q]) : 0) : 0;
    v[q] = q < left ? load_one(a, slice.begin + SellSlot(slice.width, k + q, lane)) : Scalar(0);
    u[q] = q < left ? x(j) : Sum{Scalar(0)};
  }
#pragma unroll
  for (int q = 0; q < 3; q++)
    if (q < left) add_product(sum, v[q], u[q]);
  return sum;
}

/// A warp's sum of one of the long rows that it takes alone, to all of its lanes, which must all call.
template <class Values> __device__ __forceinline__ Scalar warp_row_sum(const SellLayout &A, PetscInt l, int lane,
                                                                       const Values &a, const Scalar *x)
{
  return group_sum<32>(batched_sum<4>(
      A.long_begin[l] + lane, A.long_begin[l + 1], 32, [&](PetscInt e) { return load_one(a, A.long_values + e); },
      [&](PetscInt e) { return load_stream(A.long_j + e); }, Gather{x}));
}

/// Chunk `number` of the matrix, of a row of the list.
__device__ __forceinline__ RowChunk sell_chunk(const SellLayout &A, PetscInt number)
{
  const PetscInt l = A.chunk_row[number];
  return row_chunk<SellLayout::CHUNK>(number, l, A.chunk_begin[number], A.long_begin[l], A.long_begin[l + 1]);
}

/// What a thread of a block of `threads` adds up of a chunk, for add_chunks().
template <int threads, class Values> __device__ __forceinline__ Scalar sell_chunk_sum(const SellLayout &A,
                                                                                      const RowChunk   &chunk,
                                                                                      const Values &a, const Scalar *x)
{
  return batched_sum<4>(
      chunk.begin + static_cast<PetscInt>(threadIdx.x), chunk.end, threads,
      [&](PetscInt e) { return load_one(a, A.long_values + e); }, [&](PetscInt e) { return load_stream(A.long_j + e); },
      Gather{x});
}

/// Entries and row of a place.
__device__ __forceinline__ int place_length(const SellLayout &A, PetscInt place)
{
  return A.length ? A.length[place] : static_cast<int>(A.width);
}
__device__ __forceinline__ PetscInt place_row(const SellLayout &A, PetscInt place)
{
  return A.local ? (place & ~(A.window - 1)) + A.local[place] : place;
}

/// The sum of the row of `length` entries in place `lane` of a slice; x(j): what an entry of column j is multiplied
/// with.
template <class Values, class X>
__device__ __forceinline__ auto slice_row_sum(const SellSlice &slice, int length, int lane, const Values &a, const X &x)
{
  if (slice.bytes == 1) return slice_sum<std::uint8_t>(slice, length, lane, a, x);
  if (slice.bytes == 2) return slice_sum<std::uint16_t>(slice, length, lane, a, x);
  return slice_sum<std::uint32_t>(slice, length, lane, a, x);
}

} // namespace sparsegpu::formats
