/// Values that are newest on the device alone. The host's array is behind until somebody reads it: PETSc's accessors
/// (MatSeqAIJGetArray() and its family) and all of PETSc's operations on the matrix first bring the values home. That
/// costs nothing while the host has them: the operations are exchanged only as long as they are away.
#pragma once

#include <petsc/private/matimpl.h>
#include <vector>
#include "device/scalar.hpp"

namespace sparsegpu
{

struct Context;

struct Away {
  struct _MatOps      operations; ///< of the matrix, but for the time being
  std::vector<Scalar> stowed;     ///< the values, where -sparsegpu_test_away has sent them away without a device
};

/// Can the values of A be newest on the device alone? Where -mat_sparsegpu_lazy_host asks for that; not of blocks of
/// parallel matrices and of operands of products of matrices, which PETSc reads without an accessor.
PetscErrorCode MayGoAway(Mat A, Context *context, bool *may);
/// The values that `context` has on the device are newer than the host's from now on.
PetscErrorCode GoAway(Mat A, Context *context);
/// The values have been written on the device: PETSc is told as if the host's array had been, where the host now gets
/// them from `a` [bytes] there, or null: it stays behind.
PetscErrorCode TellValuesWritten(Mat A, const Scalar *a, size_t bytes);
/// The host has the values again, of this very matrix and version.
PetscErrorCode ComeHome(Mat A, Context *context);
/// The same of any matrix, which may be null or of another type.
PetscErrorCode BringHome(Mat A);
/// And it stays so.
PetscErrorCode StayHome(Mat A);
/// Composed functions of a sequential AIJ matrix that touch the values: ours, which bring them home first, or the
/// parent's again.
PetscErrorCode ComposeAtHome(Mat A, bool on);
/// -sparsegpu_test_away: hides the values from the host, whose array gets NaN instead.
PetscErrorCode SendAwayForTests(Mat A, Context *context);

} // namespace sparsegpu
