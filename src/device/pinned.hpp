/// Host memory that the device writes to directly, or that copies need not be staged through; freed with its owner.
#pragma once

#include <cstring>
#include "device/device.hpp"

namespace sparsegpu
{

class PinnedMemory
{
public:
  PinnedMemory()                                = default;
  PinnedMemory(const PinnedMemory &)            = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory() { PetscCallAbort(PETSC_COMM_SELF, Free()); }

  /// Holds at least `bytes` bytes afterwards; what was in it is lost if it grows.
  PetscErrorCode Reserve(size_t bytes)
  {
    PetscFunctionBegin;
    if (bytes <= bytes_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Free());
    PetscCall(DeviceAllocatePinned(bytes, &data_));
    bytes_ = bytes;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The same, of zeros where it grows.
  PetscErrorCode ReserveZeros(size_t bytes)
  {
    PetscFunctionBegin;
    if (bytes <= bytes_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Reserve(bytes));
    if (data_) memset(data_, 0, bytes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Free()
  {
    PetscFunctionBegin;
    if (data_) PetscCall(DeviceFreePinned(data_));
    data_  = nullptr;
    bytes_ = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void *data() const { return data_; }

private:
  void  *data_  = nullptr;
  size_t bytes_ = 0;
};

/// The next `count` entries of memory handed out in order; a null `base` only counts the bytes.
template <class T> T *Take(char *base, size_t *used, PetscInt count)
{
  constexpr size_t ALIGNED = 256; // what a device copies and reads best
  T *const         here    = base ? reinterpret_cast<T *>(base + *used) : nullptr;
  *used += (sizeof(T) * static_cast<size_t>(count) + ALIGNED - 1) / ALIGNED * ALIGNED;
  return here;
}

} // namespace sparsegpu
