#include <cstdint>
#include "device/cuda_check.hpp"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/codec/values.cuh"
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static constexpr int THREADS = 256;

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
template <class Column, class Values>
__device__ __forceinline__ Scalar slice_sum(const SellSlice &slice, int length, int lane, const Values &a,
                                            const Scalar *x)
{
  constexpr bool       BASES = sizeof(Column) < 4;
  const unsigned char *at    = slice.columns;
  PetscInt             k = 0, e = slice.begin;
  Scalar               sum(0);

  for (; k + 4 <= slice.width && k < length; k += 4, e += 4 * 32) {
    PetscInt j[4];
    Scalar   v[4], u[4];
    Four<Column>::get(at + (BASES ? SellLayout::UNIT : 0), lane, j);
    if (BASES) {
      const uint4 base = __ldg(reinterpret_cast<const uint4 *>(at)); // the same for all lanes
      j[0] += static_cast<PetscInt>(base.x);
      j[1] += static_cast<PetscInt>(base.y);
      j[2] += static_cast<PetscInt>(base.z);
      j[3] += static_cast<PetscInt>(base.w);
    }
    load_pair(a, e + 2 * lane, v);
    load_pair(a, e + 64 + 2 * lane, v + 2);
#pragma unroll
    for (int q = 0; q < 4; q++) u[q] = x[j[q]];
#pragma unroll
    for (int q = 0; q < 4; q++)
      if (k + q < length) sum += v[q] * u[q];
    at += (BASES ? SellLayout::UNIT : 0) + 4 * 32 * sizeof(Column);
  }
  const PetscInt             rest = slice.width & 3;
  const std::uint32_t       *base = reinterpret_cast<const std::uint32_t *>(at);
  const Column              *d    = reinterpret_cast<const Column *>(at + (BASES ? SellLayout::UNIT : 0)) + lane;
#pragma unroll
  for (int q = 0; q < 3; q++) {
    if (q >= rest || k + q >= length) break;
    const PetscInt j = static_cast<PetscInt>(load_stream(d + 32 * q)) + (BASES ? static_cast<PetscInt>(base[q]) : 0);
    sum += load_one(a, slice.begin + SellSlot(slice.width, k + q, lane)) * x[j];
  }
  return sum;
}

/// One chunk of a very long row by one thread block, as in csr.
template <class Values>
__device__ __forceinline__ void sell_chunk(const SellLayout &A, PetscInt chunk, const Values &a, const Scalar *x,
                                           const Scalar *y, Scalar *z)
{
  __shared__ Scalar warps[THREADS / 32];
  __shared__ bool   last;
  const PetscInt    l = A.chunk_row[chunk], row_begin = A.long_begin[l], row_end = A.long_begin[l + 1];
  const PetscInt    begin  = A.chunk_begin[chunk];
  const PetscInt    end    = begin + SellLayout::CHUNK < row_end ? begin + SellLayout::CHUNK : row_end;
  const PetscInt    first  = chunk - (begin - row_begin) / SellLayout::CHUNK;
  const PetscInt    chunks = (row_end - row_begin + SellLayout::CHUNK - 1) / SellLayout::CHUNK;
  Scalar            sum(0);

#pragma unroll 4
  for (PetscInt e = begin + threadIdx.x; e < end; e += THREADS)
    sum += load_one(a, A.long_values + e) * x[load_stream(A.long_j + e)];
  sum = block_sum<THREADS>(sum, warps);
  if (chunks > 1) {
    if (threadIdx.x == 0) {
      A.chunk_sum[chunk] = sum;
      __threadfence();
      last = atomicAdd(A.arrived + first, 1) == chunks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = Scalar(0);
    for (PetscInt c = threadIdx.x; c < chunks; c += THREADS) sum += load_shared(A.chunk_sum + first + c);
    sum = block_sum<THREADS>(sum, warps);
    if (threadIdx.x == 0) A.arrived[first] = 0;
  }
  if (threadIdx.x == 0) {
    const PetscInt row = A.long_row[l];
    z[row]             = y ? y[row] + sum : sum;
  }
}

/// z = A x + y. The first blocks take a chunk of a very long row each, the next warps a long row each, all others a
/// slice: one thread per row, neighbouring threads read neighbouring columns and values; x is gathered. Bitwise
/// reproducible, whatever the codecs.
template <class Values> static __global__ void __launch_bounds__(THREADS)
    sell_kernel(SellLayout A, Values stored, const Scalar *x, const Scalar *y, Scalar *z)
{
  const Values a = stage(stored);
  if (blockIdx.x < A.chunks) {
    sell_chunk(A, blockIdx.x, a, x, y, z);
    return;
  }
  const PetscInt warp = (static_cast<PetscInt>(blockIdx.x - A.chunks) * THREADS + threadIdx.x) / 32;
  const int      lane = threadIdx.x % 32;
  if (warp < A.warp_rows) {
    Scalar sum(0);
#pragma unroll 4
    for (PetscInt e = A.long_begin[warp] + lane; e < A.long_begin[warp + 1]; e += 32)
      sum += load_one(a, A.long_values + e) * x[load_stream(A.long_j + e)];
    sum = group_sum<32>(sum);
    if (lane == 0) {
      const PetscInt row = A.long_row[warp];
      z[row]             = y ? y[row] + sum : sum;
    }
    return;
  }
  const PetscInt s = warp - A.warp_rows, place = s * 32 + lane;
  if (s >= A.slices || place >= A.rows) return;
  const int length = A.length ? A.length[place] : static_cast<int>(A.width);
  if (length == SellLayout::NOT_HERE) return;
  const PetscInt  row   = A.local ? (place & ~(A.window - 1)) + A.local[place] : place;
  const SellSlice slice = SellSliceOf(A, s);
  Scalar          sum;
  if (slice.bytes == 1)
    sum = slice_sum<std::uint8_t>(slice, length, lane, a, x);
  else if (slice.bytes == 2)
    sum = slice_sum<std::uint16_t>(slice, length, lane, a, x);
  else
    sum = slice_sum<std::uint32_t>(slice, length, lane, a, x);
  z[row] = y ? y[row] + sum : sum;
}

PetscErrorCode SellMult_CUDA(const SellLayout &A, const ValueLayout &a, const Scalar *x, const Scalar *y, Scalar *z,
                             Stream stream)
{
  constexpr PetscInt WARPS = THREADS / 32;

  PetscFunctionBegin;
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  const unsigned blocks = static_cast<unsigned>(A.chunks + (A.warp_rows + A.slices + WARPS - 1) / WARPS);
  WithValues(a, [&](const auto &values) {
    sell_kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(A, values, x, y, z);
  });
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
