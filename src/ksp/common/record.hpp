/// What the device tells the host of each iteration, without either waiting for the other.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// Lies in pinned memory. The device writes norm and outcome first, then `ready`.
struct Record {
  PetscReal norm;
  int       outcome; ///< the method's own; nonzero if the device will do nothing further
  int       ready;   ///< the number of the round that this record belongs to
};

/// Iterations that the host may be ahead of the records it has read: enough for the device always to have work, few
/// enough that what is launched in vain after the last one costs little.
constexpr PetscInt RECORD_LAG = 4;

/// Waits until `record` is of the round `ready`. All work that writes it must have been launched on `stream`.
/// Errors: what went wrong on the device.
PetscErrorCode AwaitRecord(const Record *record, int ready, Stream stream, Record *copy);

} // namespace sparsegpu
