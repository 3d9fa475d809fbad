/// Host memory that the device writes to directly, or that copies need not be staged through; freed with its owner.
#pragma once

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

} // namespace sparsegpu
