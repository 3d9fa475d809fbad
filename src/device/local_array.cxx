/// PETSc has a pair of functions for each access and each space; a vector must be restored with the function that
/// belongs to the one it was borrowed with.
#include "device/local_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

PetscLogEvent CopyEvent;

LocalArray::~LocalArray()
{
  PetscCallAbort(PETSC_COMM_SELF, GiveBack());
}

PetscErrorCode LocalArray::Get(Vec v, Space space, Access access)
{
  const PetscScalar *array = nullptr;

  PetscFunctionBegin;
  PetscCheck(!vector_, PETSC_COMM_SELF, PETSC_ERR_ORDER, "The array of another vector has not been restored");
  where_ = PETSC_MEMTYPE_HOST;
  if (access == Access::Read) {
    if (space == Space::Host)
      PetscCall(VecGetArrayRead(v, &array));
    else
      PetscCall(VecGetArrayReadAndMemType(v, &array, &where_));
    array_ = const_cast<PetscScalar *>(array);
  } else if (access == Access::Write) {
    if (space == Space::Host)
      PetscCall(VecGetArrayWrite(v, &array_));
    else
      PetscCall(VecGetArrayWriteAndMemType(v, &array_, &where_));
  } else {
    if (space == Space::Host)
      PetscCall(VecGetArray(v, &array_));
    else
      PetscCall(VecGetArrayAndMemType(v, &array_, &where_));
  }
  vector_ = v;
  space_  = space;
  access_ = access;
  if (on_device()) PetscCall(DeviceAfterVectors()); // they may still be writing or reading the array
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalArray::Stage(DeviceMemory *scratch, Stream stream, PetscObject logged)
{
  PetscInt n;

  PetscFunctionBegin;
  if (on_device()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(vector_, &n));
  PetscCall(scratch->Reserve(static_cast<size_t>(n) * sizeof(Scalar)));
  PetscCall(StageIn(static_cast<Scalar *>(scratch->data()), stream, logged));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalArray::StageIn(Scalar *room, Stream stream, PetscObject logged)
{
  PetscInt n;

  PetscFunctionBegin;
  if (on_device()) PetscFunctionReturn(PETSC_SUCCESS);
  staged_ = room;
  stream_ = stream;
  logged_ = logged;
  if (access_ == Access::Write) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(vector_, &n));
  const size_t bytes = static_cast<size_t>(n) * sizeof(Scalar);
  if (logged) PetscCall(PetscLogEventBegin(CopyEvent, logged, nullptr, nullptr, nullptr));
  PetscCall(DeviceCopyIn(room, array_, bytes, stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  if (logged) PetscCall(PetscLogEventEnd(CopyEvent, logged, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalArray::Restore()
{
  PetscFunctionBegin;
  if (staged_ && access_ != Access::Read) PetscCall(CopyBack());
  PetscCall(GiveBack());
  PetscFunctionReturn(PETSC_SUCCESS);
}

Scalar *LocalArray::write() const
{
  PetscCheckAbort(access_ != Access::Read, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The array is for reading only");
  return staged_ ? staged_ : reinterpret_cast<Scalar *>(array_);
}

/// The staged entries to the vector.
PetscErrorCode LocalArray::CopyBack()
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vector_, &n));
  const size_t bytes = static_cast<size_t>(n) * sizeof(Scalar);
  if (logged_) PetscCall(PetscLogEventBegin(CopyEvent, logged_, nullptr, nullptr, nullptr));
  PetscCall(DeviceCopyOut(array_, staged_, bytes, stream_));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  if (logged_) PetscCall(PetscLogEventEnd(CopyEvent, logged_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalArray::GiveBack()
{
  const Vec          v     = vector_;
  const PetscScalar *array = array_;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  vector_ = nullptr; // once, whatever comes of it
  staged_ = nullptr;
  if (on_device()) PetscCall(DeviceBeforeVectors()); // our kernels may
  if (access_ == Access::Read) {
    if (space_ == Space::Host)
      PetscCall(VecRestoreArrayRead(v, &array));
    else
      PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  } else if (access_ == Access::Write) {
    if (space_ == Space::Host)
      PetscCall(VecRestoreArrayWrite(v, &array_));
    else
      PetscCall(VecRestoreArrayWriteAndMemType(v, &array_));
  } else {
    if (space_ == Space::Host)
      PetscCall(VecRestoreArray(v, &array_));
    else
      PetscCall(VecRestoreArrayAndMemType(v, &array_));
  }
  array_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
