/// Values that are newest on the device alone. The host's array is out of date until it is read: PETSc's accessors
/// (MatSeqAIJGetArray() and its family) and all of PETSc's operations on the matrix first bring the values home. That
/// costs nothing while the host has them: the operations are exchanged only as long as they are away. The pattern may
/// be away with them: see pattern.hpp.
#pragma once

#include <petsc/private/matimpl.h>
#include "device/device.hpp"
#include "mat/face/names.hpp"
#include "mat/rows/rows.hpp"

namespace sparsegpu::face
{

struct Context;

struct Away {
  Away(Mat matrix, Rows *rows, Scalar *host, size_t bytes);
  ~Away();
  Away(const Away &)            = delete;
  Away &operator=(const Away &) = delete;

  const Mat      matrix;
  struct _MatOps operations; ///< of the matrix, but for the time being
  Rows *const    rows;       ///< whose values they are, and AIJ's array for them; null while the pattern is away, too
  Scalar        *host;
  size_t         bytes;
  std::vector<std::pair<MatOption, PetscBool>> options; ///< set while the pattern was away: its way home resets some
};

/// PETSc's MAIJ reads the values of the matrix that it is made of without asking. The creator of its type, which
/// ours replaces, first copies all values that are away to the host, and none go away from then on.
PetscErrorCode BringHomeForMAIJ();
/// Whether a MAIJ matrix has been created.
bool HasMAIJ();

/// As long as one of these lives no values leave the host: PETSc's operations on a matrix call others, MatZeroEntries()
/// for one, and go on with the array.
class AtHomeScope
{
public:
  AtHomeScope() { depth_++; }
  ~AtHomeScope() { depth_--; }
  AtHomeScope(const AtHomeScope &)            = delete;
  AtHomeScope &operator=(const AtHomeScope &) = delete;

  static bool Any() { return depth_ > 0; }

private:
  static int depth_;
};

/// Whether the values of A can be newest in *space alone. Not those of operands and results of PETSc's own products of
/// matrices, which are read and written without an accessor, and those of blocks only within operations of the parallel
/// matrix (parallel_away.hpp). *space is the device but in tests without one: in these a second array on the host
/// stands for it.
PetscErrorCode MayGoAway(Mat A, Context *context, bool *may, Space *space);
/// Whether products of A are planned on the device, or a test option hides its values.
PetscErrorCode LivesThere(Context *context, bool *lives);
/// All values have been written in Rows::RoomForValues(), of a matrix that may go away: the host is behind from now on.
/// PETSc sees a write to the values. `zero`: all are.
PetscErrorCode ValuesWrittenThere(Mat A, Context *context, bool zero = false);
/// The same in `space`, of any matrix: the host's array gets a copy of `a`, of Rows::RoomForValues(), at once.
PetscErrorCode ValuesWrittenInBoth(Mat A, Context *context, const Scalar *a, Space space);
/// Are the values of a sequential matrix of ours newer elsewhere than on the host?
PetscErrorCode IsAway(Mat A, bool *away);
/// The host has the values again, of this very matrix and version, or of its blocks.
PetscErrorCode ComeHome(Mat A, Context *context);
/// The host's array counts again, whatever is in it: for who writes all of it.
PetscErrorCode ComeHomeUnread(Mat A, Context *context);
/// ComeHome() of any matrix, which may be null or of another type.
PetscErrorCode BringHome(Mat A);
/// The same of an argument of an operation, of any type: matrices alone have values.
template <class Other> PetscErrorCode BringArgumentHome(Other)
{
  return PETSC_SUCCESS;
}
inline PetscErrorCode BringArgumentHome(Mat A)
{
  return BringHome(A);
}
/// And it stays so.
PetscErrorCode StayHome(Mat A);
/// Operations that may touch values on the host: those that bring them home first, in the place of `operations`; and
/// `before` again, unless one has been set to something else meanwhile.
void OperateAtHome(struct _MatOps *operations);
void OperateAsBefore(struct _MatOps *operations, const struct _MatOps &before);
/// The same of operations that read the pattern, but not the values, for a matrix whose pattern is away, too.
void OperateWithPattern(struct _MatOps *operations);
void OperatePatternAsBefore(struct _MatOps *operations, const struct _MatOps &before);
/// The same of a parallel matrix, for the values of its blocks.
void OperateBlocksAtHome(struct _MatOps *operations);
void BlocksOperateAsBefore(struct _MatOps *operations, const struct _MatOps &before);
/// Composed functions of an AIJ matrix that touch the values: ours, which bring them home first, or the parent's again.
PetscErrorCode ComposeAtHome(Mat A, bool parallel, bool on);
/// -sparsegpu_test_away: hides the values from the host, whose array gets NaN instead.
PetscErrorCode SendAwayForTests(Mat A, Context *context);

} // namespace sparsegpu::face
