/// KSPMatSolve(): admission, single solves and the summary.
#include "ksp/common/together.hpp"
#include <algorithm>
#include <petsc/private/pcimpl.h>
#include "ksp/common/versions.hpp"
#include "mat/face/dense_array.hpp"
#include "mat/face/solver_access.hpp"
#include "sparsegpu.h"

namespace sparsegpu::ksp
{

namespace
{
/// Whether KSPMatSolve() may keep what KSPSolve() would tell or do of each column to itself. `told_of`: the
/// preconditioner's PCPostSolve() tells how the solves before have gone, once for all.
bool NothingElseIsAsked(KSP ksp, bool told_of)
{
  const bool told = !IteratesAreUnseen(ksp) || ksp->res_hist || ksp->calc_sings || ksp->calc_ritz || ksp->viewRate;
  const bool viewed =
      ksp->viewPre || ksp->viewMatExp || ksp->viewEV || ksp->viewSV || ksp->viewEVExp || ksp->viewPOpExp;
  const bool changed = ksp->guess || ksp->guess_knoll || ksp->dmActive || ksp->presolve || ksp->postsolve ||
                       ksp->pc->ops->presolve || (ksp->pc->ops->postsolve && !told_of);
  return !told && !viewed && !changed && !(ksp->transpose_solve && PETSC_VERSION_GE(3, 22, 0));
}

/// Whether the host of one process gains by reading the matrix once for all columns. What it loses: the vectors of one
/// column may stay in its caches from pass to pass, those of all do not. Measured for conjugate gradients with 8
/// columns of 27 points, 7 points and constant coefficients on a core with 1 MB of second-level and 32 MB of
/// third-level cache: 0.5 times the time of single solves, 0.85 to 1.3 times, 1.1 to 1.4 times.
PetscErrorCode PaysOnHost(const Togetherness &asked, const TogetherPlace &place, PetscInt rows, PetscInt columns,
                          bool *pays)
{
  constexpr double CACHE   = 1 << 20; // bytes: of a core's own
  constexpr double LEAST   = 8;       // vectors' worth of bytes of the matrix
  const double     vector  = static_cast<double>(rows) * sizeof(Scalar);
  const int        vectors = asked.vectors + (place.outside ? 1 : 0);
  PetscLogDouble   bytes;

  PetscFunctionBegin;
  *pays =
      asked.mode == SmallMode::On || vectors * vector * static_cast<double>(std::min<PetscInt>(columns, MANY)) <= CACHE;
  if (*pays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HostBytesForSolve(place.A, &bytes));
  *pays = bytes >= LEAST * vector;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether PCMatApply() of matrices on the device is ours, or PCApply() of each column: PETSc's own of some
/// preconditioners (PCBJACOBI, PCASM, PCMG) goes through matrices of its own.
PetscErrorCode TakesDeviceColumns(PC pc, PetscBool *takes)
{
  PetscFunctionBegin;
  *takes = PETSC_TRUE;
  if (!pc->ops->matapply) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscObjectTypeCompareAny((PetscObject)pc, takes, PCSPARSEGPU, PCILU, PCICC, PCLU, PCCHOLESKY, PCSHELL, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By matrix, preconditioner and vectors; sets place->space.
PetscErrorCode AdmitMatrix(PC pc, Mat B, Mat X, const Togetherness &asked, TogetherPlace *place, bool *admitted)
{
  const bool alone = place->alone;
  PetscBool  ours, b_host, x_host, taken = PETSC_TRUE;
  bool       b_there, x_there;
  PetscInt   rows, columns;

  PetscFunctionBegin;
  *admitted = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)place->A, alone ? MATSEQAIJSPARSEGPU : MATMPIAIJSPARSEGPU, &ours));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, alone ? MATSEQDENSE : MATMPIDENSE, &b_host));
  PetscCall(PetscObjectTypeCompare((PetscObject)X, alone ? MATSEQDENSE : MATMPIDENSE, &x_host));
  PetscCall(LiesOnDevice(B, &b_there));
  PetscCall(LiesOnDevice(X, &x_there));
  if (!ours || !((b_host && x_host) || (b_there && x_there))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(B, &rows, &columns));
  place->space = x_there ? Space::Device : Space::Host;
  // products on the device with what lies on the host are for KSPSolve(), which copies once
  if (alone) {
    Format  *format;
    PetscInt nonzeros = 0;
    PetscCall(FormatForSolve(place->A, place->space, &format, &nonzeros));
    if (x_there && place->outside) PetscCall(TakesDeviceColumns(pc, &taken));
    // with a diagonal the product is all that columns may share, and the launches of small systems
    place->gains     = asked.mode == SmallMode::On || place->outside || !format || format->GainsByColumns();
    const bool small = x_there && IsSmall(asked.small, rows, nonzeros, SMALL_NONZEROS);
    *admitted        = (format != nullptr) == x_there && taken && (place->gains || small);
    if (*admitted && !x_there) PetscCall(PaysOnHost(asked, *place, rows, columns, admitted));
  } else {
    BlocksForSolve blocks;
    PetscCall(GetBlocksForSolve(place->A, place->space, &blocks));
    *admitted = blocks.space == Space::Host;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode AdmitTogether(KSP ksp, Mat B, Mat X, const Togetherness &asked, TogetherPlace *place, bool *admitted)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscBool      diagonal, inner, scales, ours;
  PetscMPIInt    size;
  MatNullSpace   null, left;
  PCFailedReason failed;
  PetscInt       rows, columns;

  PetscFunctionBegin;
  *admitted = false;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  place->alone = size == 1;
  PetscCall(PCGetOperators(ksp->pc, &place->A, nullptr));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &diagonal, PCNONE, PCJACOBI, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCKSP, &inner)); // fails for all columns, or for none
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCSPARSEGPU, &ours));
  PetscCall(ScalesDiagonal(ksp, &scales));
  PetscCall(PCGetFailedReason(ksp->pc, &failed)); // MatSolve() heeds a failed factor, MatMatSolve() does not
  PetscCall(MatGetNullSpace(place->A, &null));
  PetscCall(MatGetTransposeNullSpace(place->A, &left));
  PetscCall(MatGetSize(B, &rows, &columns));
  place->outside = !diagonal;
  if (rows == 0 || columns < 2) PetscFunctionReturn(PETSC_SUCCESS);
  int serves = asked.mode != SmallMode::Off && asked.serves && !inner && !scales && !null && !left &&
               NothingElseIsAsked(ksp, ours);
  serves = serves && !failed && ksp->reason != KSP_DIVERGED_PC_FAILED; // on some ranks alone
  if (!place->alone) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &serves, 1, MPI_INT, MPI_MIN, comm));
  if (serves) PetscCall(AdmitMatrix(ksp->pc, B, X, asked, place, admitted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EndTogether(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PCPreSolve(ksp->pc, ksp)); // of those admitted nothing but the other's counterpart
  PetscCall(PCPostSolve(ksp->pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// What KSPMatSolve() shows after the solves, of all right-hand sides, is not shown after each of them.
class ShownOnce
{
public:
  explicit ShownOnce(KSP ksp)
      : flags_{&ksp->view, &ksp->viewMat, &ksp->viewPMat, &ksp->viewRhs, &ksp->viewSol, &ksp->viewFinalRes}
  {
    for (int k = 0; k < COUNT; k++) {
      before_[k] = *flags_[k];
      *flags_[k] = PETSC_FALSE;
    }
  }
  ShownOnce(const ShownOnce &)            = delete;
  ShownOnce &operator=(const ShownOnce &) = delete;
  ~ShownOnce()
  {
    for (int k = 0; k < COUNT; k++) *flags_[k] = before_[k];
  }

private:
  static constexpr int COUNT = 6;
  PetscBool           *flags_[COUNT], before_[COUNT];
};
} // namespace

PetscErrorCode SolveByColumn(KSP ksp, Mat B, Mat X, std::vector<ManyColumn> *columns)
{
  const ShownOnce once(ksp);
  const bool      transposed = ksp->transpose_solve && PETSC_VERSION_GE(3, 22, 0); // before, it is of another solve

  PetscFunctionBegin;
  for (size_t c = 0; c < columns->size(); c++) {
    Vec b, x;
    PetscCall(MatDenseGetColumnVecRead(B, static_cast<PetscInt>(c), &b));
    PetscCall(MatDenseGetColumnVec(X, static_cast<PetscInt>(c), &x));
    PetscCall(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
    PetscCall(MatDenseRestoreColumnVec(X, static_cast<PetscInt>(c), &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, static_cast<PetscInt>(c), &b));
    ManyColumn *column = columns->data() + c;
    column->iterations = ksp->its;
    column->reason     = ksp->reason;
    column->norm       = ksp->rnorm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

ManyColumn BatchesBefore(KSP ksp)
{
  ManyColumn before; // KSPMatSolve() begins without a reason

  if (!ksp->reason || ksp->reason == KSP_DIVERGED_PC_FAILED) return before; // which may be that of the set-up
  before.iterations = ksp->its;
  before.norm       = ksp->rnorm;
  before.reason     = ksp->reason;
  return before;
}

PetscErrorCode Summarise(KSP ksp, const std::vector<ManyColumn> &columns, const ManyColumn &before)
{
  size_t failed = columns.size();

  PetscFunctionBegin;
  ksp->its   = before.iterations;
  ksp->rnorm = before.norm;
  for (size_t c = 0; c < columns.size(); c++) {
    const ManyColumn &column = columns[c];
    PetscCall(PetscInfo(ksp, "Right-hand side %d: %s after %" PetscInt_FMT " iterations, residual norm %g\n", (int)c,
                        KSPConvergedReasons[column.reason], column.iterations, (double)column.norm));
    ksp->its = std::max(ksp->its, column.iterations);
    if (!(column.norm <= ksp->rnorm)) ksp->rnorm = column.norm; // NaN, too
    if (column.reason < 0 && failed == columns.size()) failed = c;
  }
  if (failed < columns.size())
    ksp->reason = columns[failed].reason;
  else
    ksp->reason = columns.empty() ? KSP_CONVERGED_ATOL : columns[0].reason;
  if (before.reason < 0) ksp->reason = before.reason;
  // newer ones raise the error themselves, where an inner solver has reached its limit or not
  PetscCheck(PETSC_VERSION_GE(3, 22, 0) || !ksp->errorifnotconverged || ksp->reason >= 0,
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "KSPMatSolve() has not converged, reason %s",
             KSPConvergedReasons[ksp->reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseOver(Mat A, int count, Scalar *entries, PetscInt ld, Space space, Mat *M)
{
  auto *const array = reinterpret_cast<PetscScalar *>(entries);
  PetscInt    rows, all;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(MatGetSize(A, &all, nullptr));
  if (space == Space::Host) {
    PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), rows, PETSC_DECIDE, all, count, array, M));
    if (ld != rows) PetscCall(MatDenseSetLDA(*M, ld));
  } else {
#if defined(PETSC_HAVE_CUDA)
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), M));
    PetscCall(MatSetSizes(*M, rows, count, all, count));
    PetscCall(MatSetType(*M, MATSEQDENSECUDA));
    PetscCall(MatDenseSetLDA(*M, ld));
    PetscCall(MatDenseCUDASetPreallocation(*M, array));
#else
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Dense matrices on a GPU, in a PETSc without CUDA");
#endif
  }
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PreconditionColumns(PC pc, Mat from, Mat to, Space space)
{
  DenseArray entries;

  PetscFunctionBegin;
  PetscCall(entries.Get(from, space, Access::Write)); // PETSc's copy elsewhere, if there is one, is old
  PetscCall(entries.Restore());
  PetscCall(PCMatApply(pc, from, to));
  PetscCall(entries.Get(to, space, Access::Read)); // from where the preconditioner has left them
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
