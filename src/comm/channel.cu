/// The steps of the protocol between GPUs of one host as launches of their own, where no product takes them along.
#include "comm/channel.hpp"
#include "comm/exchange.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

/// Begins an exchange, with as many blocks as the entries ask for.
static __global__ void begin_kernel(DeviceExchange exchange, const Scalar *from)
{
  begin_in_turn();
  begin_exchange<1>(exchange, from, gridDim.x);
}

/// Ends it, by one block. Where a rank is lost, the entries become NaN. The block polls while the kernel before it, a
/// product that has nothing to do with it, still runs, and ends after that one has, so that the kernel after it may
/// count on both.
static __global__ void end_kernel(DeviceExchange exchange)
{
  let_next_kernel_start();
  const bool came = await_entries(exchange);
  wait_for_previous_kernel();
  if (came) return;
  Scalar *const received = entries_of(exchange);
  for (std::int64_t e = threadIdx.x; e < exchange.side.receives; e += blockDim.x) received[e] = no_number();
}

/// A thread for each entry that others have sent to: their values are added in the order of the senders.
static __global__ void add_kernel(int places, const int *target, const int *start, const int *source,
                                  const Scalar *received, Scalar *to)
{
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= places) return;
  Scalar sum = to[target[p]];
  for (int s = start[p]; s < start[p + 1]; s++) sum += received[source[s]];
  to[target[p]] = sum;
}

PetscErrorCode BeginExchange_CUDA(const DeviceExchange &exchange, const Scalar *from, Stream stream)
{
  constexpr int threads = 256;

  PetscFunctionBegin;
  if (!exchange.side.count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((LaunchEarly<begin_kernel>(static_cast<PetscInt>(sending_blocks(exchange.side, threads)), threads,
                                       static_cast<cudaStream_t>(stream), exchange, from)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EndExchange_CUDA(const DeviceExchange &exchange, Stream stream)
{
  constexpr int threads = 128;

  PetscFunctionBegin;
  if (!exchange.side.receives) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((LaunchEarly<end_kernel>(PetscInt(1), threads, static_cast<cudaStream_t>(stream), exchange)));
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
