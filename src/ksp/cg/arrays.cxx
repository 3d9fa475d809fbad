/// Which solves run on arrays, their memory, and the passes of an iteration: launched on the device, done at once on
/// the host.
#include "ksp/cg/arrays.hpp"
#include <algorithm>
#include "device/local_array.hpp"
#include "ksp/common/versions.hpp"

namespace sparsegpu::cg
{

PetscErrorCode ArraySolve::Begin(KSP ksp)
{
  PetscFunctionBegin;
  ksp_    = ksp;
  active_ = false;
  norm_   = NormOf(ksp->normtype);
  test_   = NormTest{-1, PETSC_MAX_REAL, PETSC_MAX_INT};
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  ahead_until_ = 0;
  if (!ksp->reason || size > 1) // else the preconditioner has failed; on several ranks not on all
    PetscCall(system_.Begin(ksp, Preconditioners::Any));
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
  PetscBool    diagonal, scales;
  MatNullSpace null;
  Mat          A;
  Space        space;
  bool         wraps;

  PetscFunctionBegin;
  *admitted = false;
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp_->pc, &diagonal, PCNONE, PCJACOBI, ""));
  PetscCall(ScalesDiagonal(ksp_, &scales));
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(SpaceOf(ksp_->vec_sol, &space, &wraps));
  outside_ = !diagonal;
  if (scales || null || space != Space::Host || !wraps) PetscFunctionReturn(PETSC_SUCCESS);
  if (columns_.space() != Space::Host) PetscCall(columns_.Free()); // of vectors of another type
  PetscCall(columns_.Allocate(ksp_->vec_sol, outside_ ? COLUMNS : COLUMN_Z));
  const Dense columns = columns_.view();
  v_                  = Arrays{};
  v_.rows             = columns.rows;
  v_.r                = columns.Column(COLUMN_R);
  v_.p                = columns.Column(COLUMN_P);
  v_.w                = columns.Column(COLUMN_W);
  if (outside_) v_.z = columns.Column(COLUMN_Z);
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
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(ksp_->pc, ones, d));
  PetscCall(entries.Get(d, Space::Host, Access::Read));
  PetscCallCXX(inverse_.assign(entries.read(), entries.read() + v_.rows));
  PetscCall(entries.Restore());
  v_.inverse = inverse_.data();
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

PetscErrorCode ArraySolve::SumOverProcesses(PetscReal *sums, PetscMPIInt count)
{
  PetscFunctionBegin;
  PetscCall(ksp::SumOverProcesses(PetscObjectComm((PetscObject)ksp_), system_.ranks(), sums, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::SumOverProcesses(Sums *sums)
{
  PetscReal both[2] = {sums->rho, sums->square};

  PetscFunctionBegin;
  PetscCall(SumOverProcesses(both, 2));
  *sums = Sums{both[0], both[1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Start(PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(space_ == Space::Device ? StartOnDevice(norm) : StartOnHost(norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::StartOnHost(PetscReal *norm)
{
  Mat        A;
  Vec        w;
  LocalArray b;
  Sums       sums;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  if (!ksp_->guess_zero) {
    PetscCall(columns_.Write(COLUMN_W, &w));
    PetscCall(KSP_MatMult(ksp_, A, ksp_->vec_sol, w));
    PetscCall(columns_.WriteEnd(COLUMN_W));
  }
  PetscCall(b.Get(ksp_->vec_rhs, Space::Host, Access::Read));
  StartRows_Host(v_, b.read(), ksp_->guess_zero ? nullptr : v_.w, StartNorm(), &sums);
  PetscCall(b.Restore());
  PetscCall(columns_.Changed(COLUMN_R));
  PetscCall(columns_.Changed(COLUMN_P));
  // on some processes alone: the norm tells the others
  if (ksp_->reason == KSP_DIVERGED_PC_FAILED) sums.square = sums.rho = PETSC_INFINITY;
  PetscCall(SumOverProcesses(&sums));
  PetscCall(PetscLogFlops(6.0 * v_.rows));
  state_     = State{};
  state_.rho = sums.rho;
  *norm      = PetscSqrtReal(StartNorm() == Norm::Natural ? PetscAbsReal(sums.rho) : sums.square);
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
  Mat        A;
  Vec        p, w;
  LocalArray x;
  PetscReal  dots[DOTS];
  Sums       sums;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  PetscCall(columns_.Read(COLUMN_P, &p));
  PetscCall(columns_.Write(COLUMN_W, &w));
  PetscCall(KSP_MatMult(ksp_, A, p, w));
  PetscCall(columns_.WriteEnd(COLUMN_W));
  ProductDots_Host(v_, dots);
  PetscCall(SumOverProcesses(dots, DOTS));
  const Step step = TakeStep(state_, static_cast<int>(std::min<PetscInt>(k, 1)), dots);
  told_           = Told{0, step.outcome, step.alpha, state_.rho};
  if (step.outcome != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(x.Get(ksp_->vec_sol, Space::Host, Access::ReadWrite));
  v_.x = x.write();
  UpdateRows_Host(v_, step, norm_, &sums);
  PetscCall(x.Restore());
  PetscCall(columns_.Changed(COLUMN_P));
  PetscCall(SumOverProcesses(&sums));
  PetscCall(PetscLogFlops(19.0 * v_.rows));
  state_.before    = state_.rho;
  state_.rho       = sums.rho;
  state_.curvature = dots[0];
  told_.norm       = PetscSqrtReal(norm_ == Norm::Natural ? PetscAbsReal(sums.rho) : sums.square);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Await(PetscInt k, Told *told)
{
  PetscFunctionBegin;
  *told = told_;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    const CgRecord *record = static_cast<const CgRecord *>(records_.data()) + (k + RECORDS) % RECORDS;
    Record          copy;
    Stream          stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(AwaitRecord(&record->told, first_round_ + static_cast<int>(k), stream, &copy));
    if (system_.ranks()) PetscCall(system_.ranks()->Check());
    *told = Told{copy.norm, static_cast<Outcome>(copy.outcome), record->alpha, record->rho};
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool ArraySolve::Idle(PetscInt k) const
{
  const PetscInt told = k + 1 < ahead_until_ ? k - 1 : k; // by iteration k
  return space_ == Space::Host ||
         RecordReady(&(static_cast<const CgRecord *>(records_.data()) + (told + RECORDS) % RECORDS)->told,
                     first_round_ + static_cast<int>(told));
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

} // namespace sparsegpu::cg
