/// Which solves run on arrays, their memory, and their iterations on the host.
#include "ksp/bcgs/arrays.hpp"
#include <petsc/private/pcimpl.h>
#include "device/local_array.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode ArraySolve::Begin(KSP ksp)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  ksp_         = ksp;
  active_      = false;
  right_       = ksp->pc_side == PC_RIGHT;
  ahead_until_ = 0;
  test_        = NormTest{-1, PETSC_MAX_REAL, PETSC_MAX_INT};
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (!ksp->reason || size > 1) // else the preconditioner has failed; on several ranks not on all
    PetscCall(system_.Begin(ksp, Preconditioners::Any));
  if (system_.active() && system_.outside() && ksp->pc->ops->applyBA) PetscCall(system_.End()); // not in two steps
  if (system_.active()) {
    space_   = Space::Device;
    outside_ = system_.outside();
    PetscCall(ReserveOnDevice());
    active_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  space_ = Space::Host;
  PetscCall(BeginOnHost(&active_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Decided by types: all processes decide alike.
PetscErrorCode ArraySolve::BeginOnHost(bool *admitted)
{
  PetscBool    diagonal;
  MatNullSpace null;
  Mat          A;
  Space        space;
  bool         wraps;

  PetscFunctionBegin;
  *admitted = false;
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp_->pc, &diagonal, PCNONE, PCJACOBI, ""));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(SpaceOf(ksp_->vec_sol, &space, &wraps));
  outside_ = !diagonal;
  if (null || ksp_->transpose_solve || space != Space::Host || !wraps) PetscFunctionReturn(PETSC_SUCCESS);
  if (outside_ && ksp_->pc->ops->applyBA) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeColumns(false));
  if (!outside_) PetscCall(TakeDiagonal());
  *admitted = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal that PCJACOBI of any kind multiplies with: the preconditioner applied to ones.
PetscErrorCode ArraySolve::TakeDiagonal()
{
  const Vec  ones = ksp_->work[0], d = ksp_->work[1];
  PetscBool  none;
  LocalArray entries;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp_->pc, PCNONE, &none));
  if (none) {
    v_.s_hat = v_.r;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp_->pc, ones, d));
  PetscCall(entries.Get(d, Space::Host, Access::Read));
  PetscCallCXX(inverse_.assign(entries.read(), entries.read() + v_.rows));
  PetscCall(entries.Restore());
  v_.inverse = inverse_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `device_only`: no preconditioner is to be applied to columns.
PetscErrorCode ArraySolve::TakeColumns(bool device_only)
{
  PetscFunctionBegin;
  if (columns_.space() != space_) PetscCall(columns_.Free()); // of vectors of another type
  const PetscInt count = !right_ && !outside_ ? COLUMN_S_HAT : right_ && outside_ ? COLUMNS : COLUMN_P_HAT;
  PetscCall(columns_.Allocate(ksp_->vec_sol, count, device_only));
  const Dense columns = columns_.view();
  v_                  = Arrays{};
  v_.rows             = columns.rows;
  v_.r                = columns.Column(COLUMN_R);
  v_.p                = columns.Column(COLUMN_P);
  v_.v                = columns.Column(COLUMN_V);
  v_.t                = columns.Column(COLUMN_T);
  v_.shadow           = columns.Column(COLUMN_SHADOW);
  v_.p_hat            = right_ && outside_ ? columns.Column(COLUMN_P_HAT) : v_.p;
  v_.s_hat            = right_ ? columns.Column(COLUMN_S_HAT) : v_.r;
  v_.right            = right_ && !outside_;
  PetscCall(VecGetOwnershipRange(ksp_->vec_sol, &v_.first_row, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::End()
{
  PetscFunctionBegin;
  if (active_ && space_ == Space::Device) PetscCall(system_.End());
  active_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Free()
{
  PetscFunctionBegin;
  active_ = false;
  PetscCall(columns_.Free());
  PetscCall(system_.Free());
  PetscCall(scratch_.Free());
  PetscCall(records_.Free());
  std::vector<Scalar>().swap(inverse_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Start(PetscReal *norm)
{
  Told told;

  PetscFunctionBegin;
  ahead_ = false;
  PetscCall(space_ == Space::Device ? StartOnDevice() : StartOnHost());
  PetscCall(Await(-1, &told));
  *norm = told.norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// r = the preconditioned b, for a preconditioner from the left that is applied from outside; b less the product in t,
/// if there is a guess.
PetscErrorCode ArraySolve::PreconditionResidual(const Scalar *b)
{
  Scalar *const difference = columns_.view().Column(COLUMN_PRODUCT);

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(ScaleSystem_CUDA(v_.rows, nullptr, b, ksp_->guess_zero ? nullptr : v_.t, difference, stream));
    PetscCall(Precondition(COLUMN_PRODUCT, COLUMN_R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt r = 0; r < v_.rows; r++) difference[r] = ksp_->guess_zero ? b[r] : b[r] - v_.t[r];
  PetscCall(Precondition(COLUMN_PRODUCT, COLUMN_R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::StartOnHost()
{
  const bool product = !ksp_->guess_zero;
  Mat        A;
  Vec        t;
  LocalArray b;
  PetscReal  square[1];

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  if (product) {
    PetscCall(columns_.Write(COLUMN_T, &t));
    PetscCall(KSP_MatMult(ksp_, A, ksp_->vec_sol, t));
    PetscCall(columns_.WriteEnd(COLUMN_T));
  }
  PetscCall(b.Get(ksp_->vec_rhs, Space::Host, Access::Read));
  if (outside_ && !right_) {
    PetscCall(PreconditionResidual(b.read()));
    StartRows_Host(v_, v_.r, nullptr, square);
  } else {
    StartRows_Host(v_, b.read(), product ? v_.t : nullptr, square);
  }
  PetscCall(b.Restore());
  // on some processes alone: the norm tells the others
  if (ksp_->reason == KSP_DIVERGED_PC_FAILED) square[0] = PETSC_INFINITY;
  PetscCall(SumOverProcesses(square));
  PetscCall(PetscLogFlops(4.0 * v_.rows));
  state_        = State{};
  state_.first  = 1;
  state_.rho    = Scalar(square[0]);
  state_.shadow = state_.square = state_.low = square[0];
  told_                                      = Told{PetscSqrtReal(square[0]), GOES_ON};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Launch(PetscInt k)
{
  PetscFunctionBegin;
  PetscCall(space_ == Space::Device ? LaunchOnDevice(k) : LaunchOnHost(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::LaunchOnHost(PetscInt k)
{
  LocalArray x;
  PetscInt   all;
  PetscReal  sums[SHADOW_DOTS];

  PetscFunctionBegin;
  PetscCall(Apply(HALF_P, k));
  const HalfStep half = TakeHalf(state_, half_);
  told_               = Told{0, half.outcome};
  if (half.outcome != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  state_.alpha  = half.alpha;
  state_.along  = half.along;
  state_.broken = half.broken;
  UpdateHalf_Host(v_, half.alpha);
  PetscCall(Apply(HALF_S, k));
  const WholeStep step = TakeWhole(state_, whole_);
  told_                = Told{0, step.outcome};
  if (step.outcome == NOT_FINITE || step.outcome == BREAKS_DOWN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(x.Get(ksp_->vec_sol, Space::Host, Access::ReadWrite));
  v_.x = x.write();
  UpdateWhole_Host(v_, step, sums);
  PetscCall(x.Restore());
  PetscCall(SumOverProcesses(sums));
  PetscCall(VecGetSize(ksp_->vec_sol, &all));
  PetscCall(PetscLogFlops(30.0 * v_.rows));
  told_.outcome = EndIteration(&state_, step, FromParts(sums), sums[PARTS], static_cast<PetscReal>(all));
  told_.norm    = PetscSqrtReal(sums[PARTS]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Await(PetscInt k, Told *told)
{
  Record record = {};

  PetscFunctionBegin;
  *told = told_;
  if (space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(records_.Await(k, &record));
  if (system_.ranks()) PetscCall(system_.ranks()->Check());
  *told = Told{record.norm, static_cast<Outcome>(record.outcome)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Store(Vec v, bool *stored)
{
  Scalar *x;

  PetscFunctionBegin;
  *stored = active_ && space_ == Space::Device && system_.copies();
  if (!*stored) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(system_.Solution(&x));
  PetscCall(system_.Store(x, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
