/// For tests of what happens where the device's memory ends.
#pragma once

#if defined(SPARSEGPU_HAVE_CUDA)
  #include <cuda_runtime.h>
  #include <unistd.h>

namespace testing
{

/// As long as this lives the device has about `bytes` left.
class DeviceLimit
{
public:
  explicit DeviceLimit(size_t bytes)
  {
    size_t there, total;
    // another process may be about to give memory back, or to take some
    for (int tries = 0; tries < 50 && !works_; tries++) {
      if (tries > 0) usleep(100000);
      works_ = cudaMemGetInfo(&there, &total) == cudaSuccess && there > bytes &&
               cudaMalloc(&taken_, there - bytes) == cudaSuccess;
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
