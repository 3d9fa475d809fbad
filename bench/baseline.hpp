/// What baselines share: device arrays, times.
#pragma once

#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <vector>
#include "median.hpp"

/// A device array, freed with it; p is null where there was no memory.
template <class T> struct OnDevice {
  T *p = nullptr;
  OnDevice(const T *host, size_t n)
  {
    if (cudaMalloc(&p, std::max<size_t>(1, n) * sizeof(T)) != cudaSuccess) p = nullptr;
    if (p && host) cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit OnDevice(const std::vector<T> &host) : OnDevice(host.data(), host.size()) {}
  OnDevice(const OnDevice &)            = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice() { cudaFree(p); }
};

inline double Now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
