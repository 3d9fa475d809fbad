/// Results of iterations that the device writes and the host reads, without either waiting for the other.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// In pinned memory. The device writes norm and outcome first, then `ready`.
struct Record {
  PetscReal norm;
  int       outcome; ///< the method's own; nonzero if the device will do nothing further
  int       ready;   ///< the number of the round that this record belongs to
};

/// Waits until `record` is of the round `ready`. All work that writes it must have been launched on `stream`.
/// Errors: what went wrong on the device.
PetscErrorCode AwaitRecord(const Record *record, int ready, Stream stream, Record *copy);
/// Whether the record of the round `ready` has been written.
inline bool RecordReady(const Record *record, int ready)
{
  return static_cast<const volatile Record *>(record)->ready == ready;
}

/// How many iterations the host launches ahead of the records it has read. Enough to keep the device busy, few enough
/// to limit speculative launches after the last iteration. Doubled when the device was found idle: the records of all
/// launched iterations had been written. Halved after many records that the host had to wait for.
class RecordLag
{
public:
  static constexpr PetscInt FIRST = 4, MOST = 32;

  PetscInt ahead() const { return ahead_; }
  /// A record has been read; `idle` says that no other was under way.
  void RecordRead(bool idle)
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
