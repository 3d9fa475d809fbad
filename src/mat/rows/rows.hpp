/// The rows of a sequential matrix of ours: whose they are, the versions of their pattern and of their values, and
/// where these are: in PETSc's arrays on the host, on the device, or in both. The side written last is newer; the other
/// one's are copied when they are read, never before. A pattern is on the host, too, unless it is away: then its values
/// are, too, and PETSc's arrays are made when something asks for them.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "mat/rows/device_rows.hpp"
#include "mat/rows/version.hpp"

namespace sparsegpu::rows
{

/// What tells cheaply that a pattern is another one. It cannot prove that two are the same: PETSc can write other
/// columns into the old arrays, and its nonzero state may repeat. What multiplies goes by PatternFingerprint().
struct PatternKey {
  Version          epoch    = 0; ///< Rows::epoch()
  PetscObjectState nonzero  = -1;
  PetscInt         nonzeros = -1;
  bool             operator==(const PatternKey &b) const
  {
    return epoch == b.epoch && nonzero == b.nonzero && nonzeros == b.nonzeros;
  }
};

/// `bring` makes PETSc's arrays for the pattern of a matrix, which is away, from those that its Rows have.
void OnPatternAway(PetscErrorCode (*bring)(Mat));

/// The rows of any sequential AIJ matrix, on the host.
PetscErrorCode GetHostRows(Mat A, CsrView *view);
/// The same without values that are newest elsewhere: view->a is null then, and nothing is copied.
PetscErrorCode GetHostPattern(Mat A, CsrView *view);

class Rows
{
public:
  /// Whether these rows are A's. MatHeaderReplace() and MatHeaderMerge() hand what belongs to one matrix to another,
  /// whose object state may be any; the address and the id of the owner tell.
  PetscErrorCode BelongTo(Mat A, bool *theirs) const;
  /// They are A's from now on: versions and states of before were another matrix's.
  PetscErrorCode Adopt(Mat A);

  /// The version of A's pattern and values now: it moves with the object state and, while the values are away from the
  /// host, with what is written to them there.
  PetscErrorCode GetVersion(Mat A, Version *version);
  /// The version of the pattern alone, as of the last GetVersion(): a write to the host's rows may change it, a write
  /// to the values on the device does not. Two that are the same prove that the patterns are; others nothing.
  Version pattern_version() const { return pattern_version_; }
  /// The pattern may be another one from now on, wherever its arrays lie and whatever the object state is. Not of
  /// values that are away.
  void PatternWritten()
  {
    epoch_   = NextVersion();
    version_ = 0;
  }
  Version version() const { return version_; } ///< of the last GetVersion() or write
  /// Moves when the matrix, or all of its pattern, is known to be another one.
  Version epoch() const { return epoch_; }

  /// A's rows on the host and, if asked for, their key. Values that are away come home first.
  PetscErrorCode GetHost(Mat A, CsrView *view, PatternKey *key) const;
  /// The same by GetHostPattern().
  PetscErrorCode GetPattern(Mat A, CsrView *view, PatternKey *key) const;
  /// The same for who needs no columns on the host, and no beginnings of rows either: i and j are null while the
  /// pattern is away.
  PetscErrorCode GetShape(Mat A, CsrView *view, PatternKey *key = nullptr) const;

  /// The values of now [nonzeros] on the device, in the order of the rows; null if they are not there.
  PetscErrorCode ValuesOnDevice(Mat A, Scalar **a);
  /// The same in `space`, which is the host's in tests alone: a second array that stands for the device's.
  PetscErrorCode ValuesIn(Mat A, Space space, Scalar **a);
  /// The same, copied there from the host if need be, to stay. Errors: PETSC_ERR_MEM.
  PetscErrorCode BringValues(Mat A, Space space, Scalar **a);
  /// Memory for all values, to be written before WrittenThere(). Current values in the same space are kept.
  PetscErrorCode RoomForValues(Mat A, Space space, Scalar **a);
  /// The same with what is in `a` [nonzeros], which lies in `space`. Not of values that are away.
  PetscErrorCode TakeValues(Mat A, Array<Scalar> &&a, Space space);
  /// The values in that room are those of now and newer than the host's, which is left behind; `zero`: all are.
  void WrittenThere(bool zero);
  /// Whether the values are known to be zero, so that they need no copy.
  bool zero() const { return zero_; }
  /// The values of now are there, and the host's have been lost: for tests.
  void SentAway()
  {
    away_ = true;
    zero_ = false;
  }
  /// They are those of now, the host has them, too, and A's object state will move once more when the call is over.
  PetscErrorCode WrittenInBoth(Mat A);
  /// The host has the values of now again.
  PetscErrorCode ReturnedHome(Mat A);
  bool           away() const { return away_; }
  Space          values_space() const { return values_space_; }
  const Scalar  *values() const { return values_ ? values_->data() : nullptr; } ///< there, of whatever version
  /// Of those that no format multiplies with.
  PetscLogDouble BytesOfValues() const
  {
    return values_.use_count() == 1 ? static_cast<PetscLogDouble>(values_->bytes()) : 0;
  }
  /// Of pattern and values on the device, also of those that are there only because a format multiplies with them.
  struct DeviceBytes {
    PetscLogDouble pattern, values;
  };
  DeviceBytes BytesOnDevice() const;
  /// Lets them go, unless the host is behind. They are found again while a format multiplies with them.
  void DropValues();

  /// The pattern on the device, to stay until it is another one; from the host's arrays in `space` Host.
  PetscErrorCode BringPattern(Mat A, Space space, const PetscInt **i, const PetscInt **j);
  /// A's pattern of now lies in these arrays of the device, too: until it is another one, or for a conversion only.
  PetscErrorCode TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, bool stays);
  /// It lies in these arrays of `space` alone: it is away.
  PetscErrorCode TakePatternAway(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space);
  bool           pattern_away() const { return pattern_away_; }
  Space          pattern_space() const { return pattern_space_; }
  /// The arrays of the pattern that is away, and how many columns it has.
  CsrArrays pattern_there() const { return pattern_ ? pattern_->View() : CsrArrays(); }
  PetscInt  pattern_nonzeros() const { return pattern_ ? pattern_->nonzeros() : 0; }
  /// PETSc has arrays for it from now on.
  void PatternCameHome();
  /// The arrays of a pattern that was to be away.
  void GiveBackPattern(Array<PetscInt> *i, Array<PetscInt> *j);
  /// Where the diagonal's entries are among the values: [rows], -1 where there is none, in `space`. *complete: every
  /// row that has a column of its number has that entry.
  PetscErrorCode BringDiagonal(Mat A, Space space, const PetscInt **place, bool *complete);

  /// The rows on the device for as long as a format is chosen and built, with their owners for a format that multiplies
  /// with them. view->device stays null where memory lacks.
  PetscErrorCode BringToDevice(Mat A, CsrView *view);
  /// What keeps the values alive that ValuesOnDevice() and BringValues() tell.
  std::shared_ptr<const void> ValuesOwner() const { return values_; }
  /// Lets go of what is there for BringToDevice() alone; it is found again while a format multiplies with it.
  void DropFromDevice();
  bool HasCopy() const { return (values_ && !values_stay_) || (pattern_ && !pattern_stays_); }
  /// Whether the copy on the device, if any, is of the current rows.
  PetscErrorCode DeviceIsCurrent(Mat A, bool *current);

private:
  PetscErrorCode GetKey(Mat A, const CsrView &view, PatternKey *key) const;
  PetscErrorCode CopyToDevice(Mat A, CsrView *view);
  PetscErrorCode UploadPattern(Mat A, CsrView csr);
  PetscErrorCode FindDiagonal(Mat A, Space space);
  void           FindAgain();

  Mat              owner_   = nullptr;
  PetscObjectId    id_      = 0;
  PetscObjectState state_   = -1; ///< of the owner when version_ was given
  Version          version_ = 0, pattern_version_ = 0, epoch_ = 0;
  bool             away_ = false; ///< the host's values are behind those in values_
  bool             zero_ = false; ///< and those are zero

  std::shared_ptr<Array<Scalar>> values_; ///< [nonzeros] those of values_version_, in values_space_
  std::weak_ptr<Array<Scalar>>   last_values_;
  Space                          values_space_   = Space::Device;
  Version                        values_version_ = 0;
  bool                           values_stay_    = false;

  std::shared_ptr<DeviceRows> pattern_; ///< of device_pattern_
  std::weak_ptr<DeviceRows>   last_pattern_;
  Version                     device_pattern_ = 0;
  Version                     device_version_ = 0; ///< of the rows that were last asked for
  bool                        pattern_stays_  = false;
  bool                        pattern_away_   = false; ///< pattern_ is all there is
  Space                       pattern_space_  = Space::Device;
  Array<PetscInt>             diagonal_;              ///< [rows]
  Version                     diagonal_pattern_  = 0; ///< whose diagonal it is
  Space                       diagonal_space_    = Space::Host;
  bool                        diagonal_complete_ = false;
};

} // namespace sparsegpu::rows
