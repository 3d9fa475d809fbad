/// The passes around a preconditioner that PCApply() applies to vectors laid over the arrays; see recurrence.hpp. The
/// host learns the outcome of pass 2 before it takes a step, and of pass 3 before the next PCApply(): there are as many
/// of these as in PETSc's cg.
#include "device/local_array.hpp"
#include "ksp/cg/arrays.hpp"

namespace sparsegpu::cg
{

/// The next record of the ring.
void ArraySolve::NextRecord(Pending *pending)
{
  control_.round  = ++round_;
  pending->round  = round_;
  pending->record = static_cast<CgRecord *>(records_.data()) + round_ % RECORDS;
  control_.record = pending->record;
}

PetscErrorCode ArraySolve::AwaitPending(const Pending &pending, Told *told)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Record copy;
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(AwaitRecord(&pending.record->told, pending.round, stream, &copy));
  if (system_.ranks()) PetscCall(system_.ranks()->Check());
  *told = Told{copy.norm, static_cast<Outcome>(copy.outcome), pending.record->alpha, pending.record->rho};
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Multiply(PetscInt k)
{
  Mat A;
  Vec p, w;

  PetscFunctionBegin;
  if (space_ == Space::Device) {
    closing_.before = control_;
    closing_.both   = false;
    PetscCall(ProductOnDevice(k));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  PetscCall(columns_.Read(COLUMN_P, &p));
  PetscCall(columns_.Write(COLUMN_W, &w));
  PetscCall(KSP_MatMult(ksp_, A, p, w));
  PetscCall(columns_.WriteEnd(COLUMN_W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::UpdateResidual(PetscInt k)
{
  LocalArray x;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    Stream stream;
    PetscCall(system_.Solution(&v_.x));
    NextRecord(&residual_);
    control_.number = static_cast<int>(k);
    control_.norm   = norm_ == Norm::Unpreconditioned ? norm_ : Norm::None;
    control_.later  = norm_ != Norm::Unpreconditioned; // nobody needs these sums
    PetscCall(DeviceStream(&stream));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(UpdateResidual_CUDA(v_, control_, stream));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(6.0 * v_.rows));
    PetscCall(columns_.Changed(COLUMN_R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscReal dots[DOTS] = {}, square, unused = 0;
  Sums      sums;
  ProductDots_Host(v_, dots);
  PetscCall(SumOverProcesses(dots, 1));
  const Step step = TakeStep(state_, k > 0, dots);
  told_           = Told{0, step.outcome, step.alpha, state_.rho};
  if (step.outcome != GOES_ON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(x.Get(ksp_->vec_sol, Space::Host, Access::ReadWrite));
  v_.x = x.write();
  UpdateResidual_Host(v_, step, &square);
  PetscCall(x.Restore());
  PetscCall(columns_.Changed(COLUMN_R));
  PetscCall(PetscLogFlops(8.0 * v_.rows));
  state_.curvature = dots[0];
  sums             = Sums{square, unused};
  if (norm_ != Norm::Unpreconditioned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SumOverProcesses(&sums));
  told_.norm = PetscSqrtReal(sums.rho);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::AwaitResidual(Told *told)
{
  PetscFunctionBegin;
  *told = told_;
  if (space_ == Space::Device) PetscCall(AwaitPending(residual_, told));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Precondition(PetscInt k)
{
  Vec  r, z;
  Sums sums;

  PetscFunctionBegin;
  PetscCall(columns_.Read(COLUMN_R, &r));
  PetscCall(columns_.Write(COLUMN_Z, &z));
  PetscCall(KSP_PCApply(ksp_, r, z));
  PetscCall(columns_.WriteEnd(COLUMN_Z));
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    Stream stream;
    NextRecord(&preconditioned_);
    control_.number = static_cast<int>(k);
    control_.norm   = norm_ == Norm::Unpreconditioned ? Norm::None : norm_;
    control_.later  = false;
    PetscCall(DeviceStream(&stream));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(PreconditionedDots_CUDA(v_, control_, stream));
    PetscCall(UpdateDirection_CUDA(v_, control_, stream));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(6.0 * v_.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PreconditionedDots_Host(v_, &sums);
  PetscCall(SumOverProcesses(&sums));
  UpdateDirection_Host(v_, k < 0 ? 0 : sums.rho / state_.rho);
  PetscCall(columns_.Changed(COLUMN_P));
  PetscCall(PetscLogFlops(6.0 * v_.rows));
  state_.before        = state_.rho;
  state_.rho           = sums.rho;
  preconditioned_norm_ = PetscSqrtReal(norm_ == Norm::Natural ? PetscAbsReal(sums.rho) : sums.square);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::AwaitPreconditioned(PetscReal *norm)
{
  Told told{preconditioned_norm_, GOES_ON, 0, 0};

  PetscFunctionBegin;
  if (space_ == Space::Device) PetscCall(AwaitPending(preconditioned_, &told));
  *norm = told.norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
