/// Device memory goes back to the pool on the stream that used it last; see DeviceFree().
#include "device/buffer.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

DeviceMemory::~DeviceMemory()
{
  PetscCallAbort(PETSC_COMM_SELF, Free()); // a destructor cannot return: call Free() first where errors matter
}

PetscErrorCode DeviceMemory::Free()
{
  PetscFunctionBegin;
  if (data_) PetscCall(DeviceFree(data_));
  data_  = nullptr;
  bytes_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceMemory::Reserve(size_t bytes)
{
  PetscFunctionBegin;
  if (bytes <= bytes_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Free());
  PetscCall(DeviceAllocate(bytes, &data_));
  bytes_ = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
