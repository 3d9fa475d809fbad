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

/// Waits until `record` is of the round `ready`. All work that writes it must have been launched on `stream`.
/// Errors: what went wrong on the device.
PetscErrorCode AwaitRecord(const Record *record, int ready, Stream stream, Record *copy);
/// Is it there?
inline bool RecordReady(const Record *record, int ready)
{
  return static_cast<const volatile Record *>(record)->ready == ready;
}

/// Iterations that the host may be ahead of the records it has read: enough for the device always to have work, few
/// enough that what is launched in vain after the last one costs little. Where the record of all that was launched is
/// there, the device is idle: further ahead. After many that had to be waited for: less far, which is taken back at
/// once if it was too little.
class RecordLag
{
public:
  static constexpr PetscInt FIRST = 4, MOST = 32;

  PetscInt ahead() const { return ahead_; }
  /// A record has been read; `idle` says that no other was under way.
  void Heard(bool idle)
  {
    constexpr PetscInt LEAST    = 2;
    constexpr int      PATIENCE = 64; // records

    busy_ = idle ? 0 : busy_ + 1;
    if (idle && ahead_ < MOST) ahead_ *= 2;
    if (busy_ < PATIENCE) return;
    busy_ = 0;
    if (ahead_ > LEAST) ahead_ /= 2;
  }

private:
  PetscInt ahead_ = FIRST;
  int      busy_  = 0;
};

} // namespace sparsegpu
