/// Pinned memory of the host that the device fills piece by piece, through buffers of its own: one is copied while the
/// next is computed.
#pragma once

#include "device/buffer.hpp"
#include "device/pinned.hpp"

namespace sparsegpu
{

class BufferedCopies
{
public:
  BufferedCopies()                                  = default;
  BufferedCopies(const BufferedCopies &)            = delete;
  BufferedCopies &operator=(const BufferedCopies &) = delete;
  ~BufferedCopies();

  /// `host` bytes on the host, and `count` buffers, MOST at most, of `bytes` bytes on the device; once. Errors:
  /// PETSC_ERR_MEM.
  PetscErrorCode Allocate(size_t host, size_t bytes, PetscInt count);
  /// Another buffer, from which Copy() copies next. What the stream is given from now on waits for earlier copies from
  /// it.
  PetscErrorCode Next(Stream stream, void **buffer);
  /// Its first `bytes` bytes go to host() + at, when what the stream has been given so far is done.
  PetscErrorCode Copy(Stream stream, size_t at, size_t bytes);
  /// What the stream is given from now on waits for all copies.
  PetscErrorCode Join(Stream stream);

  /// Where host and device have it.
  char                     *host() const { return static_cast<char *>(host_.data()); }
  static constexpr PetscInt MOST = 2;

private:
  /// One of them. Events are cudaEvent_t.
  struct Buffer {
    DeviceMemory memory;
    void        *filled = nullptr, *copied = nullptr;
  };
  PinnedMemory host_;
  Buffer       buffer_[MOST];
  PetscInt     count_ = 0, current_ = 0;
  Stream       copies_ = nullptr; ///< a stream of its own
};

} // namespace sparsegpu
