/// The entries of a dense matrix in a space.
#pragma once

#include <petsc/private/matimpl.h>
#include "device/local_array.hpp"

namespace sparsegpu::face
{

/// Do kernels find the entries of a dense matrix on the device?
PetscErrorCode LiesOnDevice(Mat M, bool *there);

/// The array of a dense matrix between Get() and Restore(), for reading, or for writing all of it.
class DenseArray
{
public:
  DenseArray()                              = default;
  DenseArray(const DenseArray &)            = delete;
  DenseArray &operator=(const DenseArray &) = delete;
  ~DenseArray() { PetscCallAbort(PETSC_COMM_SELF, GiveBack()); } // after an error, without copying back

  PetscErrorCode Get(Mat M, Space space, Access access);
  /// Bytes that Stage() takes: none on the device.
  size_t StagedBytes() const { return on_device_ ? 0 : Column() * static_cast<size_t>(columns_); }
  /// On the device from now on, in `room` where it is not there.
  PetscErrorCode Stage(Scalar *room, Stream stream);
  /// Copies back what was written to `room`, which waits for the stream.
  PetscErrorCode Restore();

  Scalar  *data() const { return staged_ ? staged_ : reinterpret_cast<Scalar *>(array_); }
  PetscInt ld() const { return staged_ ? rows_ : ld_; }
  bool     on_device() const { return on_device_; }

private:
  size_t         Column() const { return static_cast<size_t>(rows_) * sizeof(Scalar); }
  PetscErrorCode Copy(bool in);
  PetscErrorCode GiveBack();

  Mat          matrix_    = nullptr; ///< null: nothing is borrowed
  Access       access_    = Access::Read;
  bool         by_type_   = false; ///< borrowed wherever the type has it
  bool         on_device_ = false;
  PetscScalar *array_     = nullptr; ///< [ld_ * (columns_ - 1) + rows_]
  PetscInt     rows_ = 0, columns_ = 0, ld_ = 0;
  Scalar      *staged_ = nullptr; ///< [rows_ * columns_] on the device; null: not staged
  Stream       stream_ = nullptr;
};

} // namespace sparsegpu::face
