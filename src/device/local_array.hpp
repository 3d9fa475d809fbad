/// The one way to borrow the local array of a vector in a space, and its copy on the device where the vector is on the
/// host.
#pragma once

#include <petscvec.h>
#include "device/buffer.hpp"
#include "device/scalar.hpp"

namespace sparsegpu
{

enum class Access {
  Read,
  Write, ///< all entries are written, none is read
  ReadWrite
};

/// The local array of one vector between Get() and Restore(). A vector may be borrowed by several readers at a time.
class LocalArray
{
public:
  LocalArray()                              = default;
  LocalArray(const LocalArray &)            = delete;
  LocalArray &operator=(const LocalArray &) = delete;
  ~LocalArray(); // returns the array after an error, without copying back: call Restore() where all went well

  /// Borrows the array of v. Space::Host: the entries on the host, copied there if they are newer on the device.
  /// Space::Device: on the device for a vector of a device type, on the host for a host vector; see on_device().
  PetscErrorCode Get(Vec v, Space space, Access access);
  /// Device vectors: nothing. Host vectors: read() and write() are a copy in `scratch` from now on, uploaded on
  /// `stream` unless the access is Write. A copy from pinned memory is asynchronous. `logged`: the object whose
  /// CopyEvent counts the copies; null: none does.
  PetscErrorCode Stage(DeviceMemory *scratch, Stream stream, PetscObject logged = nullptr);
  /// The same in `room` [local size] on the device.
  PetscErrorCode StageIn(Scalar *room, Stream stream, PetscObject logged = nullptr);
  /// Returns the array; a staged copy that was to be written is copied back first, which waits for the stream.
  PetscErrorCode Restore();

  const Scalar *read() const { return staged_ ? staged_ : reinterpret_cast<const Scalar *>(array_); }
  Scalar       *write() const; ///< unless the access is Read
  /// Where the vector's own entries are, whether or not they have been staged.
  PetscMemType where() const { return where_; }
  bool         on_device() const { return PetscMemTypeDevice(where_); }
  bool         borrowed() const { return vector_ != nullptr; }

private:
  PetscErrorCode CopyBack();
  PetscErrorCode GiveBack();

  Vec          vector_ = nullptr; ///< null: nothing is borrowed
  Space        space_  = Space::Host;
  Access       access_ = Access::Read;
  PetscScalar *array_  = nullptr; ///< [local size]
  PetscMemType where_  = PETSC_MEMTYPE_HOST;
  Scalar      *staged_ = nullptr; ///< [local size] on the device; null: not staged
  Stream       stream_ = nullptr; ///< of the staged copy
  PetscObject  logged_ = nullptr;
};

/// SparseGPUCopy of -log_view: copies of vectors between host and device that a solve or a product makes.
extern PetscLogEvent CopyEvent;

} // namespace sparsegpu
