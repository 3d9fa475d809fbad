/// Calls of CUB.
#pragma once

#include <cub/cub.cuh>
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"

/// A CUB call: once for the scratch it needs, once for good.
#define CallCUB(scratch, call, ...)                                  \
  do {                                                               \
    size_t bytes_ = 0;                                               \
    SparseGPUCallCUDA(call(nullptr, bytes_, __VA_ARGS__));           \
    PetscCall((scratch)->Reserve(bytes_));                           \
    bytes_ = (scratch)->bytes();                                     \
    SparseGPUCallCUDA(call((scratch)->data(), bytes_, __VA_ARGS__)); \
  } while (0)
