/// DeviceFound() and its companions where the plug-in was built without CUDA: there is no device, ever.
#include "device/carry.hpp"
#include "device/copied.hpp"
#include "device/device.hpp"
#include "device/scatter.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static const char WHY[] = "this libsparsegpu was built without CUDA";

static PetscErrorCode Missing(const char *what)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP_SYS, "%s needs a GPU: %s", what, WHY);
  PetscFunctionReturn(PETSC_ERR_SUP_SYS);
}

PetscErrorCode DeviceFound(PetscBool *found, const char **why)
{
  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (why) *why = WHY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

DeviceCopies CopiesSoFar()
{
  return DeviceCopies();
}
PetscErrorCode DeviceStream(Stream *stream)
{
  PetscFunctionBegin;
  *stream = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceOrder()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceAfterVectors()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceBeforeVectors()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceSynchronize(Stream)
{
  return Missing("Synchronisation");
}
PetscErrorCode DeviceFacts(const char **, PetscInt *, size_t *)
{
  return Missing("DeviceFacts");
}
PetscErrorCode DeviceAllocate(size_t, void **)
{
  return Missing("Device memory");
}
PetscErrorCode DeviceFree(void *)
{
  return Missing("Device memory");
}
PetscCount DeviceAllocations()
{
  return 0;
}
PetscErrorCode DeviceMemoryLeft(double *)
{
  return Missing("Device memory");
}
PetscErrorCode DeviceAllocatePinned(size_t, void **)
{
  return Missing("Pinned memory");
}
PetscErrorCode DeviceFreePinned(void *)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceCopyIn(void *, const void *, size_t, Stream)
{
  return Missing("A copy to the device");
}
PetscErrorCode DeviceCopyOut(void *, const void *, size_t, Stream)
{
  return Missing("A copy from the device");
}
PetscErrorCode DeviceCopyWithin(void *, const void *, size_t, Stream)
{
  return Missing("A copy on the device");
}
PetscErrorCode DevicePointer(const void *, PetscBool *device)
{
  PetscFunctionBegin;
  *device = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DeviceFinalize()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddCarries_CUDA(PetscInt, const PetscInt *, const Scalar *, Scalar *, Stream)
{
  return Missing("A product");
}
PetscErrorCode ScatterValues_CUDA(PetscInt, const PetscInt *, const Scalar *, bool, Scalar *, Stream)
{
  return Missing("A conversion");
}
PetscErrorCode PermuteValues_CUDA(PetscInt, const PetscInt *, const Scalar *, bool, Scalar *, Stream)
{
  return Missing("A conversion");
}
PetscErrorCode FillValues_CUDA(PetscInt, Scalar, Scalar *, Stream)
{
  return Missing("A conversion");
}
PetscErrorCode SumCoordinates_CUDA(PetscInt, const PetscInt *, const PetscInt *, const Scalar *, bool, Scalar *, Stream)
{
  return Missing("Assembly from device arrays");
}

} // namespace sparsegpu
