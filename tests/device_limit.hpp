/// For tests of what happens where the device's memory ends.
#pragma once

#if defined(SPARSEGPU_HAVE_CUDA)
  #include <cuda_runtime.h>

namespace testing
{

/// As long as this lives the device has `bytes` left, or up to 32 MB more.
class DeviceLimit
{
public:
  explicit DeviceLimit(size_t bytes)
  {
    constexpr size_t STEP = 1 << 20, MOST = 32;
    size_t           there, total;
    // what is free need not be in one piece
    for (size_t more = 0; more < MOST && !works_; more++) {
      const size_t left = bytes + more * STEP;
      works_            = cudaMemGetInfo(&there, &total) == cudaSuccess && there > left &&
               cudaMalloc(&taken_, there - left) == cudaSuccess;
      (void)cudaGetLastError();
    }
  }
  DeviceLimit(const DeviceLimit &)            = delete;
  DeviceLimit &operator=(const DeviceLimit &) = delete;
  ~DeviceLimit() { (void)cudaFree(taken_); }
  bool works() const { return works_; }

private:
  void *taken_ = nullptr;
  bool  works_ = false;
};

} // namespace testing
#endif
