/// Threads fill two pinned buffers each by turns: while the device reads one, the thread fills the other.
#include "device/upload.hpp"
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>
#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
constexpr size_t CHUNK   = 4 << 20; ///< bytes that a thread copies at a time
constexpr int    THREADS = 4;       ///< more are no faster: measured
constexpr int    BUFFERS = 2 * THREADS;

char       *pinned = nullptr; ///< [BUFFERS][CHUNK]
cudaEvent_t copied[BUFFERS];  ///< the device has read the buffer

/// Chunks t, t + threads, ... by turns through two buffers.
cudaError_t CopyShare(int t, int threads, int device, char *to, const char *from, size_t bytes, cudaStream_t stream)
{
  cudaError_t err = cudaSetDevice(device); // a new thread has the first one
  int         use = 0;
  for (size_t at = t * CHUNK; at < bytes && err == cudaSuccess; at += threads * CHUNK, use ^= 1) {
    const int    b = 2 * t + use;
    const size_t n = std::min(CHUNK, bytes - at);
    err            = cudaEventSynchronize(copied[b]);
    if (err != cudaSuccess) break;
    memcpy(pinned + b * CHUNK, from + at, n);
    err = cudaMemcpyAsync(to + at, pinned + b * CHUNK, n, cudaMemcpyHostToDevice, stream);
    if (err == cudaSuccess) err = cudaEventRecord(copied[b], stream);
  }
  return err;
}
} // namespace

bool UploadPays(size_t bytes)
{
  return bytes >= 4 * CHUNK;
}

PetscErrorCode Upload(void *device, const void *host, size_t bytes, Stream stream)
{
  const int   threads = std::max(1, std::min<int>(THREADS, static_cast<int>(std::thread::hardware_concurrency()) / 2));
  int         id;
  cudaError_t err[THREADS] = {};

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaGetDevice(&id));
  if (!pinned) {
    SparseGPUCallCUDA(cudaMallocHost(reinterpret_cast<void **>(&pinned), BUFFERS * CHUNK));
    for (cudaEvent_t &event : copied) SparseGPUCallCUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  const auto share = [&](int t) {
    err[t] = CopyShare(t, threads, id, static_cast<char *>(device), static_cast<const char *>(host), bytes,
                       static_cast<cudaStream_t>(stream));
  };
  std::vector<std::thread> others;
  int                      started = 1;
  try {
    for (; started < threads; started++) others.emplace_back(share, started);
  } catch (const std::exception &) { // no more threads to be had: their shares fall to this one
  }
  share(0);
  for (int t = started; t < threads; t++) share(t);
  for (std::thread &other : others) other.join();
  for (const cudaError_t e : err) SparseGPUCallCUDA(e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UploadFinalize()
{
  PetscFunctionBegin;
  if (!pinned) PetscFunctionReturn(PETSC_SUCCESS);
  for (const cudaEvent_t event : copied) SparseGPUCallCUDA(cudaEventDestroy(event));
  SparseGPUCallCUDA(cudaFreeHost(pinned));
  pinned = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
