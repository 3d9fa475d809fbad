/// Which systems are solved for several right-hand sides at a time, and the memory for it.
#include <algorithm>
#include "device/local_array.hpp"
#include "ksp/cg/cg.hpp"
#include "ksp/common/versions.hpp"
#include "mat/face/solver_access.hpp"
#include "sparsegpu.h"

namespace sparsegpu::cg
{

namespace
{
/// Whether KSPMatSolve() may keep what KSPSolve() would tell or do of each column to itself.
bool NothingElseIsAsked(KSP ksp)
{
  const bool told = !IteratesAreUnseen(ksp) || ksp->res_hist || ksp->calc_sings || ksp->calc_ritz || ksp->viewRate;
  const bool viewed =
      ksp->viewPre || ksp->viewMatExp || ksp->viewEV || ksp->viewSV || ksp->viewEVExp || ksp->viewPOpExp;
  const bool changed = ksp->guess || ksp->guess_knoll || ksp->dmActive || ksp->presolve || ksp->postsolve ||
                       ksp->pc->ops->presolve || ksp->pc->ops->postsolve;
  return !told && !viewed && !changed && !(ksp->transpose_solve && PETSC_VERSION_GE(3, 22, 0));
}
} // namespace

/// Whether the host of one process gains by reading the matrix once for all columns. What it loses: the vectors of one
/// column may stay in its caches from pass to pass, those of all do not. Measured with 8 columns of 27 points, 7 points
/// and constant coefficients on a core with 1 MB of second-level and 32 MB of third-level cache: 0.5 times the time of
/// single solves, 0.85 to 1.3 times, 1.1 to 1.4 times.
PetscErrorCode ManySolve::PaysOnHost(PetscInt rows, PetscInt columns, bool *pays)
{
  constexpr double CACHE   = 1 << 20; // bytes: of a core's own
  constexpr double LEAST   = 8;       // vectors' worth of bytes of the matrix
  const double     vector  = static_cast<double>(rows) * sizeof(Scalar);
  const int        vectors = outside_ ? 5 : 4; // x, r, p, w and z
  PetscLogDouble   bytes;

  PetscFunctionBegin;
  *pays = CgOf(ksp_)->many_mode == SmallMode::On ||
          vectors * vector * static_cast<double>(std::min<PetscInt>(columns, MANY)) <= CACHE;
  if (*pays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HostBytesForSolve(A_, &bytes));
  *pays = bytes >= LEAST * vector;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By matrix and vectors; sets space_.
PetscErrorCode ManySolve::AdmitMatrix(PetscInt rows, PetscInt columns, bool *admitted)
{
  PetscBool ours, b_host, x_host;
  bool      b_there, x_there;

  PetscFunctionBegin;
  *admitted = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)A_, alone_ ? MATSEQAIJSPARSEGPU : MATMPIAIJSPARSEGPU, &ours));
  PetscCall(PetscObjectTypeCompare((PetscObject)B_, alone_ ? MATSEQDENSE : MATMPIDENSE, &b_host));
  PetscCall(PetscObjectTypeCompare((PetscObject)X_, alone_ ? MATSEQDENSE : MATMPIDENSE, &x_host));
  PetscCall(LiesOnDevice(B_, &b_there));
  PetscCall(LiesOnDevice(X_, &x_there));
  if (!ours || !((b_host && x_host) || (b_there && x_there))) PetscFunctionReturn(PETSC_SUCCESS);
  space_ = x_there ? Space::Device : Space::Host;
  // products on the device with what lies on the host are for KSPSolve(), which copies once
  if (alone_) {
    Format *format;
    PetscCall(FormatForSolve(A_, space_, &format));
    *admitted = (format != nullptr) == x_there && !(x_there && outside_);
    if (*admitted && !x_there) PetscCall(PaysOnHost(rows, columns, admitted));
  } else {
    BlocksForSolve blocks;
    PetscCall(GetBlocksForSolve(A_, space_, &blocks));
    *admitted = blocks.space == Space::Host;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Admit(bool *admitted)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp_);
  PetscBool      diagonal, inner, scales;
  PetscMPIInt    size;
  MatNullSpace   null, left;
  PCFailedReason failed;
  PetscInt       rows, columns;

  PetscFunctionBegin;
  *admitted = false;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  alone_ = size == 1;
  PetscCall(PCGetOperators(ksp_->pc, &A_, nullptr));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp_->pc, &diagonal, PCNONE, PCJACOBI, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCKSP, &inner)); // fails for all columns, or for none
  PetscCall(ksp::ScalesDiagonal(ksp_, &scales));
  PetscCall(PCGetFailedReason(ksp_->pc, &failed)); // MatSolve() heeds a failed factor, MatMatSolve() does not
  PetscCall(MatGetNullSpace(A_, &null));
  PetscCall(MatGetTransposeNullSpace(A_, &left));
  PetscCall(MatGetSize(B_, &rows, &columns));
  outside_ = !diagonal;
  if (rows == 0 || columns < 2) PetscFunctionReturn(PETSC_SUCCESS);
  int serves = CgOf(ksp_)->many_mode != SmallMode::Off && !inner && !scales && !null && !left &&
               CgOf(ksp_)->hermitian && NothingElseIsAsked(ksp_);
  serves = serves && !failed && ksp_->reason != KSP_DIVERGED_PC_FAILED; // on some ranks alone
  if (!alone_) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &serves, 1, MPI_INT, MPI_MIN, comm));
  if (serves) PetscCall(AdmitMatrix(rows, columns, admitted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Begin(KSP ksp, Mat B, Mat X, DenseArray *b, DenseArray *x, bool *admitted)
{
  PetscFunctionBegin;
  ksp_  = ksp;
  B_    = B;
  X_    = X;
  b_    = b;
  x_    = x;
  norm_ = NormOf(ksp->normtype);
  PetscCall(Unwrap()); // of a solve that ended with an error
  PetscCall(Admit(admitted));
  if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceOrder()); // the work vectors may be in use on another stream
  v_ = ManyArrays{};
  if (space_ == Space::Device) {
    PetscCall(BeginOnDevice(admitted));
    if (!*admitted) PetscFunctionReturn(PETSC_SUCCESS);
  } else if (!outside_) {
    PetscCall(TakeDiagonal());
  }
  PetscCall(b_->Get(B, space_, Access::Read));
  PetscCall(x_->Get(X, space_, Access::Read)); // the newest entries to where they are written
  PetscCall(x_->Restore());
  PetscCall(x_->Get(X, space_, Access::Write));
  PetscCall(MatGetLocalSize(B, &v_.rows, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal that PCJACOBI of any kind multiplies with, on the host.
PetscErrorCode ManySolve::TakeDiagonal()
{
  const Vec  ones = ksp_->work[0], d = ksp_->work[1];
  PetscBool  none;
  PetscInt   rows;
  LocalArray entries;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCNONE, &none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp_->pc, ones, d));
  PetscCall(VecGetLocalSize(d, &rows));
  PetscCall(entries.Get(d, Space::Host, Access::Read));
  PetscCallCXX(inverse_.assign(entries.read(), entries.read() + rows));
  PetscCall(entries.Restore());
  v_.inverse = inverse_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for begun_ slots.
PetscErrorCode ManySolve::Reserve()
{
  constexpr PetscInt LINE   = 32; // entries: on the device columns begin on full lines
  const bool         device = space_ == Space::Device;
  const size_t       parts  = device || outside_ ? 3 : 2;

  PetscFunctionBegin;
  PetscCall(Unwrap()); // of other places
  v_.ld             = device ? (v_.rows + LINE - 1) / LINE * LINE : v_.rows;
  const size_t each = static_cast<size_t>(v_.ld) * static_cast<size_t>(begun_);
  if (entries_.size() < parts * each + 1 || entries_space_ != space_) {
    entries_ = Array<Scalar>();
    PetscCall(entries_.Allocate(parts * each + 1, space_)); // on a rank without rows an address, too
    entries_space_ = space_;
  }
  Scalar *const third = entries_.data() + 2 * each;
  v_.r                = entries_.data();
  v_.p                = v_.r + each;
  v_.w                = device ? third : nullptr;
  v_.z                = !device && outside_ ? third : nullptr;
  v_.ldw              = v_.ld;
  if (device) PetscCall(ReserveOnDevice());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::End()
{
  PetscFunctionBegin;
  PetscCall(Unwrap());
  PetscCall(x_->Restore());
  PetscCall(b_->Restore());
  if (space_ == Space::Device) PetscCall(system_.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Free()
{
  PetscFunctionBegin;
  PetscCall(Unwrap());
  PetscCall(system_.Free());
  entries_ = Array<Scalar>();
  std::vector<Scalar>().swap(inverse_);
  PetscCall(scratch_.Free());
  PetscCall(gather_.Free());
  PetscCall(records_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
