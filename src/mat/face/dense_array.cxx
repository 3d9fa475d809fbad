/// PETSc has a pair of functions for each access, and another one for arrays wherever the type has them; a matrix must
/// be restored with the function that belongs to the one it was borrowed with.
#include "mat/face/dense_array.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

PetscErrorCode LiesOnDevice(Mat M, bool *there)
{
  PetscBool cuda = PETSC_FALSE;

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA) && defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(PetscObjectTypeCompare((PetscObject)M, MATSEQDENSECUDA, &cuda));
  if (M->boundtocpu) cuda = PETSC_FALSE;
#endif
  *there = cuda;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseArray::Get(Mat M, Space space, Access access)
{
  PetscMemType       where = PETSC_MEMTYPE_HOST;
  const PetscScalar *array = nullptr;
  bool               there = false;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M, &rows_, &columns_));
  PetscCall(MatDenseGetLDA(M, &ld_));
  PetscCall(LiesOnDevice(M, &there));
  by_type_ = there && space == Space::Device;
  access_  = access;
  if (access == Access::Read) {
    if (by_type_)
      PetscCall(MatDenseGetArrayReadAndMemType(M, &array, &where));
    else
      PetscCall(MatDenseGetArrayRead(M, &array));
    array_ = const_cast<PetscScalar *>(array);
  } else if (by_type_)
    PetscCall(MatDenseGetArrayWriteAndMemType(M, &array_, &where));
  else
    PetscCall(MatDenseGetArrayWrite(M, &array_));
  matrix_    = M;
  on_device_ = PetscMemTypeDevice(where);
  if (on_device_) PetscCall(DeviceAfterVectors()); // of columns, which may still be under way
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseArray::Stage(Scalar *room, Stream stream)
{
  PetscFunctionBegin;
  if (on_device_) PetscFunctionReturn(PETSC_SUCCESS);
  staged_ = room;
  stream_ = stream;
  if (access_ == Access::Read) PetscCall(Copy(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Between array_ and staged_.
PetscErrorCode DenseArray::Copy(bool in)
{
  const bool     whole = ld_ == rows_;
  const PetscInt turns = whole ? 1 : columns_;
  const size_t   bytes = whole ? StagedBytes() : Column();

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(CopyEvent, matrix_, nullptr, nullptr, nullptr));
  for (PetscInt c = 0; c < turns; c++) {
    PetscScalar *host  = array_ + static_cast<size_t>(c) * ld_;
    Scalar      *there = staged_ + static_cast<size_t>(c) * rows_;
    if (in)
      PetscCall(DeviceCopyIn(there, host, bytes, stream_));
    else
      PetscCall(DeviceCopyOut(host, there, bytes, stream_));
  }
  if (in)
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(StagedBytes())));
  else
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(StagedBytes())));
  PetscCall(PetscLogEventEnd(CopyEvent, matrix_, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseArray::Restore()
{
  PetscFunctionBegin;
  if (staged_ && access_ == Access::Write) PetscCall(Copy(false));
  PetscCall(GiveBack());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseArray::GiveBack()
{
  const Mat          M     = matrix_;
  const PetscScalar *array = array_;

  PetscFunctionBegin;
  if (!M) PetscFunctionReturn(PETSC_SUCCESS);
  matrix_ = nullptr; // once, whatever comes of it
  staged_ = nullptr;
  if (on_device_) PetscCall(DeviceBeforeVectors());
  if (access_ == Access::Read) {
    if (by_type_)
      PetscCall(MatDenseRestoreArrayReadAndMemType(M, &array));
    else
      PetscCall(MatDenseRestoreArrayRead(M, &array));
  } else if (by_type_)
    PetscCall(MatDenseRestoreArrayWriteAndMemType(M, &array_));
  else
    PetscCall(MatDenseRestoreArrayWrite(M, &array_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
