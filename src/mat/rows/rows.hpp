/// The rows of a sequential matrix of ours: whose they are, the version of their pattern and values, and where copies
/// of them lie on the device. PETSc's arrays on the host are the authority.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "mat/rows/device_rows.hpp"
#include "mat/rows/version.hpp"

namespace sparsegpu
{

/// What tells cheaply that a pattern is another one. It cannot prove that two are the same: PETSc can write other
/// columns into the old arrays. What multiplies goes by PatternFingerprint().
struct PatternKey {
  Version          epoch = 0; ///< Rows::epoch()
  const void      *data = nullptr, *i = nullptr, *j = nullptr;
  PetscObjectState nonzero  = -1;
  PetscInt         nonzeros = -1;
  bool             operator==(const PatternKey &b) const
  {
    return epoch == b.epoch && data == b.data && i == b.i && j == b.j && nonzero == b.nonzero && nonzeros == b.nonzeros;
  }
};

/// The rows of any sequential AIJ matrix, on the host.
PetscErrorCode GetHostRows(Mat A, CsrView *view);
/// The same without values that are newest elsewhere: view->a is null then, and nothing is copied.
PetscErrorCode GetHostPattern(Mat A, CsrView *view);

class Rows
{
public:
  /// Are these A's? MatHeaderReplace() and MatHeaderMerge() hand what belongs to one matrix to another, whose object
  /// state may be any; the address and the id of the owner tell.
  PetscErrorCode BelongTo(Mat A, bool *theirs) const;
  /// They are A's from now on: versions and states of before were another matrix's.
  PetscErrorCode Adopt(Mat A);

  /// The version of A's pattern and values now: it moves with the object state.
  PetscErrorCode GetVersion(Mat A, Version *version);
  /// The values have been written where the object state does not tell yet: it will have moved once the call is over.
  void ValuesWritten();
  /// The pattern may be another one from now on, wherever its arrays lie.
  void    PatternWritten() { epoch_ = NextVersion(); }
  Version version() const { return version_; } ///< of the last GetVersion() or ValuesWritten()
  /// Moves when the matrix, or all of its pattern, is known to be another one.
  Version epoch() const { return epoch_; }

  /// A's rows on the host and, if asked for, their key.
  PetscErrorCode GetHost(Mat A, CsrView *view, PatternKey *key) const;
  /// The same by GetHostPattern().
  PetscErrorCode GetPattern(Mat A, CsrView *view, PatternKey *key) const;

  /// A copy of the rows on the device for as long as a format is chosen and built. `made` [may have null arrays]: the
  /// same rows where some format has them there already. view->device stays null where memory lacks.
  PetscErrorCode BringToDevice(Mat A, const CsrArrays &made, CsrView *view);
  void           DropFromDevice();
  /// Is the copy there, if any, of the rows as they are now?
  PetscErrorCode DeviceIsCurrent(Mat A, bool *current);

private:
  PetscErrorCode GetKey(Mat A, const CsrView &view, PatternKey *key) const;

  Mat              owner_   = nullptr;
  PetscObjectId    id_      = 0;
  PetscObjectState state_   = -1; ///< of the owner when version_ was given
  Version          version_ = 0, epoch_ = 0;
  DeviceRows       device_;
  Version          device_version_ = 0; ///< of the rows in device_
};

} // namespace sparsegpu
