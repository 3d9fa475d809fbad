/// Memory that each rank of a communicator has a part of and all ranks can write to.
#pragma once

#include <memory>
#include <petscsys.h>
#include <string>
#include <vector>
#include "device/device.hpp"

namespace sparsegpu::comm
{

class Segment
{
public:
  Segment()                           = default;
  Segment(const Segment &)            = delete;
  Segment &operator=(const Segment &) = delete;
  virtual ~Segment()                  = default;

  /// The part of `rank`, at an address of this process.
  char *at(int rank) const { return at_[static_cast<size_t>(rank)]; }

  /// Lets go of the parts of other ranks; no work that touches them may be pending.
  virtual PetscErrorCode Close() = 0;
  /// Frees this rank's part, once all ranks have closed theirs. Without it the part lives as long as the process.
  virtual PetscErrorCode Free() = 0;

protected:
  std::vector<char *> at_; ///< [ranks]
};

/// `bytes` bytes a rank of host memory, all of whose ranks share a host: a window of MPI. Collective. On all ranks or
/// on none: *segment is null and *why the reason if there is no such memory.
PetscErrorCode NewWindow(MPI_Comm comm, size_t bytes, std::unique_ptr<Segment> *segment, std::string *why);
/// The same of each rank's GPU, which the others map into their address space (CUDA IPC).
PetscErrorCode NewDeviceSegment(MPI_Comm comm, size_t bytes, std::unique_ptr<Segment> *segment, std::string *why);
/// Something that tells one GPU from another, or from a part of it; only where DeviceFound().
PetscErrorCode DeviceIdentity(char identity[16]);
/// Sets `bytes` bytes of this rank's part to zero; returns when that is done.
PetscErrorCode ClearDevice(void *p, size_t bytes);
/// Returns when this process's work on its device is done, whatever stream it is on; PETSc may have ended.
PetscErrorCode SettleDevice();

/// The first reason of any rank, on all of them; empty if none has one. Collective.
PetscErrorCode AgreeOnReason(MPI_Comm comm, std::string *why);

} // namespace sparsegpu::comm
