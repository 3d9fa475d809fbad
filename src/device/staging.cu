/// Thread t of T has the chunks t, t + T, ... and two buffers for them: the device copies to or from one of them while
/// the thread works on the other. Chunks begin at multiples of their size in the host's memory, not in the array, so
/// that no two threads meet in a huge page that is touched for the first time.
#include "device/staging.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include "device/cuda_check.hpp"
#include "device/host_memory.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
constexpr int BUFFERS = 2 * MOST_COPY_THREADS;

char               *pinned  = nullptr; ///< [BUFFERS][STAGED_CHUNK]
bool                refused = false;   ///< no pinned memory was to be had
cudaEvent_t         copied[BUFFERS];   ///< the device is done with the buffer
std::atomic_flag    in_use = ATOMIC_FLAG_INIT;
std::atomic<size_t> asked{0}; ///< bytes of all copies that could go this way

/// One copy, as all its threads see it.
struct Copy {
  char        *device, *host;
  size_t       bytes;
  bool         in; ///< to the device
  int          threads;
  int          id; ///< of the device: a new thread has the first one
  cudaStream_t stream;
};

char *Buffer(int b)
{
  return pinned + static_cast<size_t>(b) * STAGED_CHUNK;
}

cudaError_t CopyIn(const Copy &c, int t)
{
  cudaError_t  err    = cudaSuccess;
  int          b      = 2 * t;
  const size_t chunks = ChunksOf(c.host, c.bytes, STAGED_CHUNK);
  for (size_t k = static_cast<size_t>(t); k < chunks && err == cudaSuccess; k += static_cast<size_t>(c.threads)) {
    const Chunk chunk = ChunkOf(c.host, c.bytes, STAGED_CHUNK, k);
    err               = cudaEventSynchronize(copied[b]); // of the chunk before the last one, or of another copy
    if (err != cudaSuccess) break;
    memcpy(Buffer(b), c.host + chunk.at, chunk.bytes);
    err = cudaMemcpyAsync(c.device + chunk.at, Buffer(b), chunk.bytes, cudaMemcpyHostToDevice, c.stream);
    if (err == cudaSuccess) err = cudaEventRecord(copied[b], c.stream);
    b ^= 1;
  }
  return err;
}

/// Has the device copy a chunk to a buffer.
cudaError_t Fetch(const Copy &c, const Chunk &chunk, int b)
{
  cudaError_t err = cudaEventSynchronize(copied[b]); // of another copy
  if (err == cudaSuccess)
    err = cudaMemcpyAsync(Buffer(b), c.device + chunk.at, chunk.bytes, cudaMemcpyDeviceToHost, c.stream);
  return err == cudaSuccess ? cudaEventRecord(copied[b], c.stream) : err;
}

cudaError_t CopyOut(const Copy &c, int t)
{
  cudaError_t  err    = cudaSuccess;
  int          b      = 2 * t;
  const size_t chunks = ChunksOf(c.host, c.bytes, STAGED_CHUNK), step = static_cast<size_t>(c.threads);
  const size_t first = static_cast<size_t>(t);
  for (size_t k = first; k < std::min(chunks, first + 2 * step) && err == cudaSuccess; k += step) {
    err = Fetch(c, ChunkOf(c.host, c.bytes, STAGED_CHUNK, k), b);
    b ^= 1;
  }
  b = 2 * t;
  for (size_t k = first; k < chunks && err == cudaSuccess; k += step) {
    const Chunk chunk = ChunkOf(c.host, c.bytes, STAGED_CHUNK, k);
    err               = cudaEventSynchronize(copied[b]);
    if (err != cudaSuccess) break;
    memcpy(c.host + chunk.at, Buffer(b), chunk.bytes);
    if (k + 2 * step < chunks) err = Fetch(c, ChunkOf(c.host, c.bytes, STAGED_CHUNK, k + 2 * step), b);
    b ^= 1;
  }
  return err;
}

cudaError_t CopyShare(const Copy &c, int t)
{
  const cudaError_t err = cudaSetDevice(c.id);
  if (err != cudaSuccess) return err;
  return c.in ? CopyIn(c, t) : CopyOut(c, t);
}

/// Pinned memory and events, made once; where they are not to be had nobody asks again.
PetscErrorCode MakeBuffers()
{
  PetscFunctionBegin;
  if (pinned || refused) PetscFunctionReturn(PETSC_SUCCESS);
  char             *room = nullptr;
  const cudaError_t err  = cudaMallocHost(reinterpret_cast<void **>(&room), BUFFERS * STAGED_CHUNK);
  if (err != cudaSuccess) {
    (void)cudaGetLastError();
    refused = true;
    PetscCall(PetscInfo(nullptr, "No pinned memory of %zu bytes: %s. Large copies are the driver's\n",
                        BUFFERS * STAGED_CHUNK, cudaGetErrorString(err)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (cudaEvent_t &event : copied) SparseGPUCallCUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  pinned = room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All shares; those that no thread is to be had for fall to this one.
PetscErrorCode CopyShares(const Copy &c)
{
  std::array<std::thread, MOST_COPY_THREADS> others;
  cudaError_t                                err[MOST_COPY_THREADS] = {};
  int                                        started                = 1;

  PetscFunctionBegin;
  const auto share = [&](int t) { err[t] = CopyShare(c, t); };
  try {
    for (; started < c.threads; started++) others[static_cast<size_t>(started)] = std::thread(share, started);
  } catch (...) {
  }
  share(0);
  for (int t = started; t < c.threads; t++) share(t);
  for (int t = 1; t < started; t++) others[static_cast<size_t>(t)].join();
  for (const cudaError_t e : err) SparseGPUCallCUDA(e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stage(void *device, void *host, size_t bytes, bool in, int threads, Stream stream, bool *done)
{
  int id;

  PetscFunctionBegin;
  PetscCall(MakeBuffers());
  *done = pinned != nullptr;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaGetDevice(&id));
  threads = std::max(1, std::min(threads, MOST_COPY_THREADS));
  threads = static_cast<int>(std::min(static_cast<size_t>(threads), ChunksOf(host, bytes, STAGED_CHUNK)));
  PetscCall(CopyShares(Copy{static_cast<char *>(device), static_cast<char *>(host), bytes, in, std::max(1, threads), id,
                            static_cast<cudaStream_t>(stream)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StageAlone(void *device, void *host, size_t bytes, bool in, int threads, Stream stream, bool *done)
{
  PetscFunctionBegin;
  *done = false;
  if (in_use.test_and_set(std::memory_order_acquire)) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscErrorCode code = Stage(device, host, bytes, in, threads, stream, done);
  in_use.clear(std::memory_order_release);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode StagingPays(const void *host, size_t bytes, bool *pays)
{
  cudaPointerAttributes attributes;

  PetscFunctionBegin;
  *pays = bytes >= 2 * STAGED_CHUNK;
  if (!*pays) PetscFunctionReturn(PETSC_SUCCESS);
  if (cudaPointerGetAttributes(&attributes, host) == cudaSuccess)
    *pays = attributes.type == cudaMemoryTypeUnregistered;
  else
    (void)cudaGetLastError();
  if (*pays) *pays = (asked += bytes) >= STAGED_FROM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StagedCopyIn(void *device, const void *host, size_t bytes, int threads, Stream stream, bool *done)
{
  PetscFunctionBegin;
  PetscCall(StageAlone(device, const_cast<void *>(host), bytes, true, threads, stream, done)); // read alone
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StagedCopyOut(void *host, const void *device, size_t bytes, int threads, Stream stream, bool *done)
{
  PetscFunctionBegin;
  PetscCall(StageAlone(const_cast<void *>(device), host, bytes, false, threads, stream, done)); // read alone
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StagingFinalize()
{
  PetscFunctionBegin;
  refused = false;
  asked   = 0;
  if (!pinned) PetscFunctionReturn(PETSC_SUCCESS);
  for (const cudaEvent_t event : copied) {
    SparseGPUCallCUDA(cudaEventSynchronize(event)); // the last copy from the buffer
    SparseGPUCallCUDA(cudaEventDestroy(event));
  }
  SparseGPUCallCUDA(cudaFreeHost(pinned));
  pinned = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
