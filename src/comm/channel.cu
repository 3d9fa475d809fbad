/// The steps of the protocol between GPUs of one host. A kernel gathers the entries and stores them in the memory of
/// the receivers; the block that finishes last tells the neighbours. Another kernel, of one block, waits for their
/// flags, so that those after it find the ghosts. Both wait only for kernels of other GPUs that were launched before
/// anything that depends on what comes later in this stream, and give up after a time.
#include "comm/channel.hpp"
#include "device/launch.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
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

/// Whether neighbour n's flag has reached `least` within `timeout` nanoseconds, or before another rank was lost.
__device__ bool await(const Side &side, int n, Exchange least, unsigned long long timeout, const State *state)
{
  constexpr int                 POLLS = 64; // between two looks at the clock
  const Exchange               *flag  = side.flags + static_cast<std::int64_t>(n) * Side::SPACING;
  const volatile std::uint64_t *lost  = &state->lost;
  unsigned long long            begin = 0;

  while (true) {
    for (int poll = 0; poll < POLLS; poll++)
      if (load_acquire(flag) >= least) return true;
    const unsigned long long now = nanoseconds();
    if (!begin) begin = now;
    if (*lost || now - begin > timeout) return false;
  }
}

/// Keeps the first loss, for the kernels that follow and for the host.
__device__ void tell_lost(int n, Exchange k, State *state, std::uint64_t *report)
{
  const unsigned long long word = Report(n, k);
  if (atomicCAS(reinterpret_cast<unsigned long long *>(&state->lost), 0ull, word) == 0)
    *static_cast<volatile std::uint64_t *>(report) = word;
}

/// Begins exchange k. Neighbouring threads store neighbouring entries of a receiver's buffer; reads of `from` are
/// gathered. The grid is as large as the entries ask for.
__global__ void begin_kernel(Side side, const Scalar *from, Exchange k, unsigned long long timeout, State *state,
                             std::uint64_t *report)
{
  begin_in_turn();
  int ready = *static_cast<volatile std::uint64_t *>(&state->lost) == 0;
  for (int n = static_cast<int>(threadIdx.x); n < side.count && ready; n += static_cast<int>(blockDim.x)) {
    if (side.neighbours[n].send_begin == side.neighbours[n].send_end) continue;
    ready = await(side, n, BeforeWriting(k), timeout, state);
    if (!ready) tell_lost(n, k, state, report);
  }
  if (!__syncthreads_and(ready)) return; // so that no block is the last: nobody is told of this exchange or a later one
  int                n      = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < side.sends; e += stride) {
    while (e >= side.neighbours[n].send_end) n++;
    side.neighbours[n].buffer[HalfOf(k)][e - side.neighbours[n].send_begin] = from[side.send ? side.send[e] : e];
  }
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence_system(); // the block's stores before the count
  if (atomicAdd(&state->done, 1u) + 1 < gridDim.x) return;
  state->done = 0;
  __threadfence_system(); // the count before the flags: a release, with the stores to them
  for (n = 0; n < side.count; n++) store_flag(side.neighbours[n].flag, k);
}

/// Ends exchange k: one block, a thread for each neighbour. Where one is lost, the entries become NaN. The block polls
/// while the kernel before it, a product that has nothing to do with it, still runs, and ends after that one has, so
/// that the kernel after it may count on both.
__global__ void end_kernel(Side side, Exchange k, unsigned long long timeout, State *state, std::uint64_t *report)
{
  int missing = 0;
  let_next_kernel_start();
  for (int n = static_cast<int>(threadIdx.x); n < side.count; n += static_cast<int>(blockDim.x)) {
    if (!side.neighbours[n].receives || await(side, n, BeforeReading(k), timeout, state)) continue;
    tell_lost(n, k, state, report);
    missing = 1;
  }
  missing = __syncthreads_or(missing);
  wait_for_previous_kernel();
  if (!missing) return;
  Scalar *const received = HalfOf(k) ? side.received[1] : side.received[0];
  for (std::int64_t e = threadIdx.x; e < side.receives; e += blockDim.x)
    received[e] = Scalar(RealOf(~RealBits(0) >> 1));
}

/// A thread for each entry that others have sent to: their values are added in the order of the senders.
__global__ void add_kernel(int places, const int *target, const int *start, const int *source, const Scalar *received,
                           Scalar *to)
{
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= places) return;
  Scalar sum = to[target[p]];
  for (int s = start[p]; s < start[p + 1]; s++) sum += received[source[s]];
  to[target[p]] = sum;
}

unsigned long long Nanoseconds(double seconds)
{
  return static_cast<unsigned long long>(seconds * 1e9);
}
} // namespace

PetscErrorCode Begin_CUDA(const Side &side, const Scalar *from, Exchange k, double timeout, State *state,
                          std::uint64_t *report, Stream stream)
{
  constexpr int          threads = 256;
  constexpr std::int64_t MOST = 128, EACH = 4; // blocks; entries of a thread, so that stores overlap

  PetscFunctionBegin;
  if (!side.count) PetscFunctionReturn(PETSC_SUCCESS);
  const std::int64_t blocks = (side.sends + threads * EACH - 1) / (threads * EACH);
  PetscCall((LaunchEarly<begin_kernel>(static_cast<PetscInt>(blocks < 1 ? 1 : (blocks > MOST ? MOST : blocks)), threads,
                                       static_cast<cudaStream_t>(stream), side, from, k, Nanoseconds(timeout), state,
                                       report)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode End_CUDA(const Side &side, Exchange k, double timeout, State *state, std::uint64_t *report,
                        Stream stream)
{
  constexpr int threads = 128;

  PetscFunctionBegin;
  if (!side.receives) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((LaunchEarly<end_kernel>(PetscInt(1), threads, static_cast<cudaStream_t>(stream), side, k,
                                     Nanoseconds(timeout), state, report)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddReceived_CUDA(int places, const int *target, const int *start, const int *source,
                                const Scalar *received, Scalar *to, Stream stream)
{
  constexpr int threads = 256;

  PetscFunctionBegin;
  if (!places) PetscFunctionReturn(PETSC_SUCCESS);
  add_kernel<<<static_cast<unsigned>((places + threads - 1) / threads), threads, 0,
               static_cast<cudaStream_t>(stream)>>>(places, target, start, source, received, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
