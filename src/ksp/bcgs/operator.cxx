/// The preconditioned operator on arrays, and the sums of what it gives.
#include "ksp/bcgs/arrays.hpp"

namespace sparsegpu::bcgs
{

PetscErrorCode ArraySolve::Precondition(Column from, Column to)
{
  Vec in, out;

  PetscFunctionBegin;
  PetscCall(columns_.Changed(from));
  PetscCall(columns_.Read(from, &in));
  PetscCall(columns_.Write(to, &out));
  PetscCall(KSP_PCApply(ksp_, in, out));
  PetscCall(columns_.WriteEnd(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Multiply(Half half, Column from, Column to)
{
  Mat A;
  Vec in, out;

  PetscFunctionBegin;
  if (space_ == Space::Device && system_.ranks()) system_.ranks()->Gate(dots_[half].stopped_at, dots_[half].number);
  ghosts_left_ = false;
  if (space_ == Space::Device && outside_ && !right_) { // without the sums, which are the preconditioned one's
    PetscCall(system_.Product(columns_.view().Column(from), columns_.view().Column(to)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (space_ == Space::Device) {
    PetscCall(system_.Product(dots_[half]));
    ghosts_left_ = system_.ranks() && system_.ranks()->off() && system_.ranks()->ghosts_left();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetOperators(ksp_->pc, &A, nullptr));
  PetscCall(columns_.Changed(from));
  PetscCall(columns_.Read(from, &in));
  PetscCall(columns_.Write(to, &out));
  PetscCall(KSP_MatMult(ksp_, A, in, out));
  PetscCall(columns_.WriteEnd(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::LaunchAhead(PetscInt k)
{
  PetscFunctionBegin;
  if (!outside_ || right_ || space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  dots_[HALF_P].number = static_cast<int>(2 * k);
  PetscCall(Multiply(HALF_P, COLUMN_P, COLUMN_PRODUCT));
  ahead_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraySolve::Apply(Half half, PetscInt k)
{
  const Column from = half == HALF_P ? COLUMN_P : COLUMN_R, to = half == HALF_P ? COLUMN_V : COLUMN_T;
  const Column hat = half == HALF_P ? COLUMN_P_HAT : COLUMN_S_HAT;

  PetscFunctionBegin;
  dots_[half].number = static_cast<int>(2 * k) + half;
  if (!outside_) {
    PetscCall(Multiply(half, half == HALF_S && v_.s_hat != v_.r ? COLUMN_S_HAT : from, to));
  } else if (right_) {
    PetscCall(Precondition(from, hat));
    PetscCall(Multiply(half, hat, to));
  } else {
    if (half == HALF_S || !ahead_) PetscCall(Multiply(half, from, COLUMN_PRODUCT));
    PetscCall(Precondition(COLUMN_PRODUCT, to));
  }
  if (half == HALF_P) ahead_ = false;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    if (outside_ && !right_) PetscCall(DotsOfProduct_CUDA(v_.rows, dots_[half], stream));
    PetscCall(CloseProduct(half));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (half == HALF_P) {
    ShadowDots_Host(v_, v_.left_scale(), half_);
    PetscCall(SumOverProcesses(half_));
  } else {
    MinimiseDots_Host(v_, v_.left_scale(), whole_);
    PetscCall(SumOverProcesses(whole_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::bcgs
