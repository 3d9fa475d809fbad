/// Sums over ranks inside a kernel.
#pragma once

#include "comm/reduce.hpp"

namespace sparsegpu::comm
{

/// Part `part` of a value's bits.
__device__ __forceinline__ std::uint32_t part_of(Scalar value, int part)
{
  std::uint32_t parts[ReduceSide::PARTS], data = 0;
  memcpy(parts, &value, sizeof(parts));
#pragma unroll
  for (int p = 0; p < ReduceSide::PARTS; p++)
    if (p == part) data = parts[p];
  return data;
}

/// Rank `rank` has not come: tells the host, once, and the reductions that follow, which fail.
__device__ __forceinline__ void lose(const ReduceSide &side, int rank)
{
  const unsigned long long word = static_cast<unsigned long long>(rank) + 1;
  if (atomicCAS(reinterpret_cast<unsigned long long *>(side.lost), 0ull, word) == 0)
    *static_cast<volatile std::uint64_t *>(side.report) = word;
}

/// The next reduction, of values[v], v < n, 0 < n <= ReduceSide::VALUES, into sums[v], by all threads of one thread
/// block; both are in memory that the block shares and may be the same, `words` is room in its shared memory for
/// side.ranks * n * ReduceSide::PARTS words of 4 bytes. Other blocks and launches of this rank's that reduce must be
/// ordered with this one. False, on all threads, where a rank has not come in time: the host is told, the sums are NaN,
/// and reductions after it fail at once. About 3 microseconds over NVLink.
__device__ inline bool all_reduce(const ReduceSide &side, int n, const Scalar *values, Scalar *sums,
                                  std::uint32_t *words)
{
  constexpr int  POLLS = 64; // between two looks at the clock
  const int      each = n * ReduceSide::PARTS, all = side.ranks * each;
  const Exchange k = *static_cast<volatile Exchange *>(side.done) + 1;

  __syncthreads();
  int came = *static_cast<volatile std::uint64_t *>(side.lost) == 0;
  for (int w = static_cast<int>(threadIdx.x); w < all && came; w += static_cast<int>(blockDim.x)) {
    const int to = w / each, v = w % each / ReduceSide::PARTS, part = w % ReduceSide::PARTS;
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(side.there[to] + WordOf(k, side.rank, v, part)),
                 "l"(Packed(k, part_of(values[v], part)))
                 : "memory");
  }
  for (int w = static_cast<int>(threadIdx.x); w < all; w += static_cast<int>(blockDim.x)) {
    const int            from = w / each, v = w % each / ReduceSide::PARTS, part = w % ReduceSide::PARTS;
    const std::uint64_t *at    = side.here + WordOf(k, from, v, part);
    std::uint64_t        word  = 0;
    unsigned long long   begin = 0, now = 0;
    bool                 mine = false;
    while (!mine && came) {
      for (int poll = 0; poll < POLLS && !mine; poll++) {
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
        mine = IsOf(k, word);
      }
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      if (!begin) begin = now;
      if (!mine && (now - begin > side.timeout || *static_cast<volatile std::uint64_t *>(side.lost))) came = 0;
    }
    if (!mine) lose(side, from);
    words[w] = static_cast<std::uint32_t>(word);
  }
  came = __syncthreads_and(came);
  for (int v = static_cast<int>(threadIdx.x); v < n; v += static_cast<int>(blockDim.x)) {
    Scalar sum(0);
    for (int r = 0; r < side.ranks; r++) {
      Scalar value(0);
      memcpy(&value, words + r * each + v * ReduceSide::PARTS, sizeof(value));
      sum = r ? sum + value : value;
    }
    sums[v] = came ? sum : Scalar(RealOf(~RealBits(0) >> 1));
  }
  if (threadIdx.x == 0) *static_cast<volatile Exchange *>(side.done) = k;
  __syncthreads();
  return came;
}

} // namespace sparsegpu::comm
