/// Arrays that a format owns, on the host or on the device; move-only.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>
#include "device/device.hpp"

namespace sparsegpu
{

/// Untyped device memory: freed with its owner.
class DeviceMemory
{
public:
  DeviceMemory()                                = default;
  DeviceMemory(const DeviceMemory &)            = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  DeviceMemory(DeviceMemory &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0))
  {
  }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept
  {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory();

  /// Holds at least `bytes` bytes afterwards; what was in it is lost if it grows.
  PetscErrorCode Reserve(size_t bytes);
  PetscErrorCode Free();
  void          *data() const { return data_; }
  size_t         bytes() const { return bytes_; }

private:
  void  *data_  = nullptr;
  size_t bytes_ = 0;
};

/// `count` entries in `space` to and from the host. Waits for the device.
template <class T> PetscErrorCode CopyToHost(Space space, const T *from, size_t count, T *to)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    std::copy_n(from, count, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(to, from, count * sizeof(T), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T> PetscErrorCode CopyFromHost(Space space, const T *from, size_t count, T *to)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    std::copy_n(from, count, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyIn(to, from, count * sizeof(T), stream));
  // the copy from pageable memory may still be under way when `from` ends
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same within `space`.
template <class T> PetscErrorCode CopyWithin(Space space, const T *from, size_t count, T *to)
{
  Stream stream;

  PetscFunctionBegin;
  if (space == Space::Host) {
    std::copy_n(from, count, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyWithin(to, from, count * sizeof(T), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `size()` entries of T in one space.
template <class T> class Array
{
public:
  /// Takes the entries over; uploads them where `space` is the device.
  PetscErrorCode Take(std::vector<T> &&entries, Space space)
  {
    PetscFunctionBegin;
    if (space == Space::Device) {
      PetscCall(Copy(entries.data(), entries.size(), space));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    space_ = space;
    size_  = entries.size();
    host_  = std::move(entries);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// A copy of `size` entries that lie on the host.
  PetscErrorCode Copy(const T *entries, size_t size, Space space)
  {
    PetscFunctionBegin;
    space_ = space;
    size_  = 0; // until there is room
    host_.clear();
    if (space == Space::Host) {
      PetscCallCXX(host_.assign(entries, entries + size));
    } else {
      PetscCall(device_.Reserve(size * sizeof(T)));
      PetscCall(CopyFromHost(space, entries, size, static_cast<T *>(device_.data())));
    }
    size_ = size;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// A copy on the device of `size` entries that lie there, or on the host alone (`there` null).
  PetscErrorCode CopyFrom(const T *there, const T *host, size_t size)
  {
    PetscFunctionBegin;
    if (!there) {
      PetscCall(Copy(host, size, Space::Device));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Allocate(size, Space::Device));
    PetscCall(CopyWithin(Space::Device, there, size, data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// `size` entries, not initialised on the device, zero on the host.
  PetscErrorCode Allocate(size_t size, Space space)
  {
    PetscFunctionBegin;
    space_ = space;
    size_  = 0; // until there is room
    if (space == Space::Host)
      PetscCallCXX(host_.assign(size, T()));
    else
      PetscCall(device_.Reserve(size * sizeof(T)));
    size_ = size;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Copies all entries to `to` [size()] on the host. Waits for the device.
  PetscErrorCode ToHost(T *to) const
  {
    PetscFunctionBegin;
    PetscCall(CopyToHost(space_, data(), size_, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Keeps the first `size` entries.
  void Truncate(size_t size)
  {
    size_ = size;
    if (space_ == Space::Host) host_.resize(size);
  }
  T       *data() { return space_ == Space::Host ? host_.data() : static_cast<T *>(device_.data()); }
  const T *data() const { return space_ == Space::Host ? host_.data() : static_cast<const T *>(device_.data()); }
  size_t   size() const { return size_; }
  Space    space() const { return space_; }
  /// For arrays that are absent when they are empty.
  const T *data_or_null() const { return size_ ? data() : nullptr; }
  size_t   bytes() const { return size_ * sizeof(T); }

private:
  Space          space_ = Space::Host;
  size_t         size_  = 0;
  std::vector<T> host_;
  DeviceMemory   device_;
};

} // namespace sparsegpu
