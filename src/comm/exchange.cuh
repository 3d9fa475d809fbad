/// The steps of the protocol between GPUs of one host, inside kernels. Thread blocks gather entries and store them in
/// the memory of the receivers; the block that finishes last tells the neighbours. Later blocks wait for the
/// neighbours' flags. All wait only for kernels of other GPUs that were launched before anything that depends on what
/// comes later in this stream, and give up after a time.
#pragma once

#include "comm/exchange.hpp"
#include "device/launch.cuh"

namespace sparsegpu::comm
{

__device__ __forceinline__ Exchange load_acquire(const Exchange *p)
{
  Exchange v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
/// After a fence of the same thread.
__device__ __forceinline__ void store_flag(Exchange *p, Exchange v)
{
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ unsigned long long nanoseconds()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
/// What stands for entries and sums that have not come.
__device__ __forceinline__ Scalar no_number()
{
  return Scalar(RealOf(~RealBits(0) >> 1));
}

/// Whether entries are wanted. What it depends on was decided two kernels ago, or the kernel before has been waited
/// for: from L2, as this kernel may have begun before that decision.
__device__ __forceinline__ bool wanted(const DeviceExchange &e)
{
  return !e.stopped_at || __ldcg(e.stopped_at) >= e.number;
}

/// Whether neighbour n's flag has reached `least` before the time is over or another rank is lost; else the loss is
/// told to the kernels that follow and to the host.
__device__ __forceinline__ bool await_flag(const DeviceExchange &e, int n, Exchange least)
{
  constexpr int                 POLLS = 64; // between two looks at the clock
  const Exchange               *flag  = e.side.flags + static_cast<std::int64_t>(n) * Side::SPACING;
  const volatile std::uint64_t *lost  = &e.state->lost;
  unsigned long long            begin = 0;

  while (true) {
#pragma unroll 1 // a kernel has this in many places
    for (int poll = 0; poll < POLLS; poll++)
      if (load_acquire(flag) >= least) return true;
    const unsigned long long now = nanoseconds();
    if (!begin) begin = now;
    if (*lost || now - begin > e.timeout) break;
  }
  const unsigned long long word = Report(n, e.k);
  if (atomicCAS(reinterpret_cast<unsigned long long *>(&e.state->lost), 0ull, word) == 0)
    *static_cast<volatile std::uint64_t *>(e.report) = word;
  return false;
}

/// How many blocks of `threads` threads send; there may be fewer.
SPARSEGPU_HD unsigned sending_blocks(const Side &side, int threads)
{
  constexpr std::int64_t MOST = 128, EACH = 4; // blocks; entries of a thread, so that stores overlap
  const std::int64_t     blocks = (side.sends + threads * EACH - 1) / (threads * EACH);
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > MOST ? MOST : blocks);
}

/// Begins the exchange with entries of `from` by the first blocks of the grid, `most` at most, once the kernel before
/// has ended; the other blocks return at once. All threads must call. Neighbouring threads store neighbouring entries
/// of a receiver's buffer; reads of `from` are gathered, `ahead` of a thread on their way together.
template <int ahead>
__device__ __forceinline__ void begin_exchange(const DeviceExchange &e, const Scalar *from, unsigned most)
{
  const Side &side   = e.side;
  unsigned    blocks = sending_blocks(side, static_cast<int>(blockDim.x));

  if (blocks > most) blocks = most;
  if (blockIdx.x >= blocks || !side.count) return;
  wait_for_previous_kernel();
  const bool full = wanted(e);
  if (!full) {
    if (blockIdx.x > 0) return;
    blocks = 1;
  }
  int ready = *static_cast<volatile std::uint64_t *>(&e.state->lost) == 0;
  for (int n = static_cast<int>(threadIdx.x); n < side.count && ready && full; n += static_cast<int>(blockDim.x))
    ready = side.neighbours[n].send_begin == side.neighbours[n].send_end || await_flag(e, n, BeforeWriting(e.k));
  if (!__syncthreads_and(ready)) return; // so that no block is the last: nobody is told of this exchange or a later one
  int                n      = 0;
  const std::int64_t stride = static_cast<std::int64_t>(blocks) * blockDim.x;
  for (std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; s < side.sends && full;
       s += ahead * stride) {
    Scalar v[ahead];
#pragma unroll
    for (int q = 0; q < ahead; q++) {
      const std::int64_t r = s + q * stride;
      if (r < side.sends) v[q] = from[side.send ? side.send[r] : r];
    }
#pragma unroll
    for (int q = 0; q < ahead; q++) {
      const std::int64_t r = s + q * stride;
      if (r >= side.sends) break;
      while (r >= side.neighbours[n].send_end) n++;
      side.neighbours[n].buffer[HalfOf(e.k)][r - side.neighbours[n].send_begin] = v[q];
    }
  }
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence_system(); // the block's stores before the count
  if (atomicAdd(&e.state->done, 1u) + 1 < blocks) return;
  e.state->done = 0;
  __threadfence_system(); // the count before the flags: a release, with the stores to them
  for (n = 0; n < side.count; n++) store_flag(side.neighbours[n].flag, e.k);
}

/// Whether all entries have come, or none are wanted: to all threads of a block, which must all call. If not, the host
/// has been told.
__device__ __forceinline__ bool await_entries(const DeviceExchange &e)
{
  int missing = 0;

  if (wanted(e))
    for (int n = static_cast<int>(threadIdx.x); n < e.side.count; n += static_cast<int>(blockDim.x))
      if (e.side.neighbours[n].receives && !await_flag(e, n, BeforeReading(e.k))) missing = 1;
  return !__syncthreads_or(missing);
}
/// [side.receives] the entries: they may have come while this kernel ran, and are to be read by load_shared().
__device__ __forceinline__ Scalar *entries_of(const DeviceExchange &e)
{
  return HalfOf(e.k) ? e.side.received[1] : e.side.received[0];
}

} // namespace sparsegpu::comm
