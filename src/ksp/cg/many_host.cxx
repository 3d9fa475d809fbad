/// The passes for several right-hand sides on the host: those of one, for each column; products, the preconditioner and
/// reductions for all at once. See recurrence.hpp.
#include <algorithm>
#include "ksp/cg/cg.hpp"

namespace sparsegpu::cg
{

/// The first `count` of sums_ over all ranks.
PetscErrorCode ManySolve::SumOverRanks(int count)
{
  PetscFunctionBegin;
  if (!alone_)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums_, count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::Unwrap()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&W_)); // which refers to P_
  PetscCall(MatDestroy(&P_));
  PetscCall(MatDestroy(&R_));
  PetscCall(MatDestroy(&Z_));
  wrapped_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Matrices for the slots in use. On the host the product allocates W_, whose array is v_.w.
PetscErrorCode ManySolve::Wrap()
{
  PetscScalar *w;

  PetscFunctionBegin;
  if (wrapped_ == v_.count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Unwrap());
  if (outside_) PetscCall(DenseOver(A_, v_.count, v_.r, v_.ld, space_, &R_));
  if (outside_) PetscCall(DenseOver(A_, v_.count, v_.z, v_.ld, space_, &Z_));
  wrapped_ = v_.count;
  if (space_ == Space::Device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DenseOver(A_, v_.count, v_.p, v_.ld, space_, &P_));
  PetscCall(MatProductCreate(A_, P_, nullptr, &W_));
  PetscCall(MatProductSetType(W_, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(W_));
  PetscCall(MatProductSymbolic(W_));
  PetscCall(MatDenseGetLDA(W_, &v_.ldw));
  PetscCall(MatDenseGetArrayWrite(W_, &w));
  v_.w = reinterpret_cast<Scalar *>(w);
  PetscCall(MatDenseRestoreArrayWrite(W_, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// W = A P for the slots in use.
PetscErrorCode ManySolve::MultiplyOnHost()
{
  PetscFunctionBegin;
  PetscCall(Wrap());
  PetscCall(PetscObjectStateIncrease((PetscObject)P_)); // its array has changed
  PetscCall(MatProductNumeric(W_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ManySolve::MoveOnHost(int from, int to)
{
  const Arrays source = v_.Slot(from), target = v_.Slot(to);

  std::copy_n(source.r, v_.rows, target.r);
  std::copy_n(source.p, v_.rows, target.p);
  states_[to] = states_[from];
}

/// Z = M^-1 R, in either space.
PetscErrorCode ManySolve::ApplyPreconditioner()
{
  PetscFunctionBegin;
  PetscCall(Wrap());
  PetscCall(PreconditionColumns(ksp_->pc, R_, Z_, space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Z = M^-1 R after iteration k, -1: before the first; the next rho and the next directions, and the norms where they
/// are of Z.
PetscErrorCode ManySolve::Precondition(PetscInt k)
{
  PetscFunctionBegin;
  PetscCall(ApplyPreconditioner());
  for (int c = 0; c < v_.count; c++) {
    Sums sums;
    PreconditionedDots_Host(v_.Slot(c), &sums);
    sums_[2 * c]     = sums.rho;
    sums_[2 * c + 1] = sums.square;
  }
  PetscCall(SumOverRanks(2 * v_.count));
  for (int c = 0; c < v_.count; c++) {
    State          *state = states_ + c;
    const PetscReal rho = sums_[2 * c], square = sums_[2 * c + 1];
    UpdateDirection_Host(v_.Slot(c), k < 0 ? 0 : rho / state->rho);
    state->before = state->rho;
    state->rho    = rho;
    if (OfZ() && told_[c].outcome == GOES_ON)
      told_[c].norm = PetscSqrtReal(norm_ == Norm::Natural ? PetscAbsReal(rho) : square);
  }
  PetscCall(PetscLogFlops(6.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::StartOnHost(bool product)
{
  const Norm norm = outside_ ? Norm::Unpreconditioned : norm_;

  PetscFunctionBegin;
  if (product) {
    for (int c = 0; c < v_.count; c++) std::copy_n(v_.Slot(c).x, v_.rows, v_.Slot(c).p);
    PetscCall(MultiplyOnHost());
  }
  for (int c = 0; c < v_.count; c++) {
    const Arrays slot = v_.Slot(c);
    Sums         sums;
    StartRows_Host(slot, b_->data() + static_cast<size_t>(first_ + c) * b_->ld(), product ? slot.w : nullptr, norm,
                   &sums);
    sums_[2 * c]     = sums.rho;
    sums_[2 * c + 1] = sums.square;
  }
  PetscCall(SumOverRanks(2 * v_.count));
  for (int c = 0; c < v_.count; c++) {
    const PetscReal rho = sums_[2 * c], square = sums_[2 * c + 1];
    states_[c]     = State{};
    states_[c].rho = rho;
    told_[c]       = Told{PetscSqrtReal(norm == Norm::Natural ? PetscAbsReal(rho) : square), GOES_ON, 0, 0};
  }
  PetscCall(PetscLogFlops(6.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManySolve::LaunchOnHost(PetscInt k)
{
  PetscReal dots[DOTS];
  Step      steps[MANY];

  PetscFunctionBegin;
  PetscCall(MultiplyOnHost());
  for (int c = 0; c < v_.count; c++) {
    ProductDots_Host(v_.Slot(c), dots);
    std::copy_n(dots, DOTS, sums_ + DOTS * c);
  }
  PetscCall(SumOverRanks(DOTS * v_.count));
  for (int c = 0; c < v_.count; c++) {
    std::copy_n(sums_ + DOTS * c, DOTS, dots);
    steps[c] = TakeStep(states_[c], k > 0, dots);
    told_[c] = Told{0, steps[c].outcome, 0, 0};
    if (steps[c].outcome == GOES_ON) states_[c].curvature = dots[0];
  }
  for (int c = 0; c < v_.count; c++) {
    Sums sums{0, 0};
    if (steps[c].outcome == GOES_ON) UpdateRows_Host(v_.Slot(c), steps[c], norm_, &sums);
    sums_[2 * c]     = sums.rho;
    sums_[2 * c + 1] = sums.square;
  }
  PetscCall(SumOverRanks(2 * v_.count));
  for (int c = 0; c < v_.count; c++) {
    const PetscReal rho = sums_[2 * c], square = sums_[2 * c + 1];
    if (steps[c].outcome != GOES_ON) continue;
    states_[c].before = states_[c].rho;
    states_[c].rho    = rho;
    told_[c].norm     = PetscSqrtReal(norm_ == Norm::Natural ? PetscAbsReal(rho) : square);
  }
  PetscCall(PetscLogFlops(19.0 * v_.rows * v_.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same around a preconditioner that is applied from outside.
PetscErrorCode ManySolve::LaunchAround(PetscInt k)
{
  PetscFunctionBegin;
  if (!OfZ()) PetscCall(Precondition(k - 1));
  PetscCall(MultiplyOnHost());
  for (int c = 0; c < v_.count; c++) {
    PetscReal dots[DOTS];
    ProductDots_Host(v_.Slot(c), dots);
    sums_[c] = dots[0];
  }
  PetscCall(SumOverRanks(v_.count));
  for (int c = 0; c < v_.count; c++) {
    const PetscReal dots[DOTS] = {sums_[c], 0, 0};
    const Step      step       = TakeStep(states_[c], k > 0, dots);
    told_[c]                   = Told{0, step.outcome, 0, 0};
    sums_[c]                   = 0;
    if (step.outcome != GOES_ON) continue;
    states_[c].curvature = dots[0];
    UpdateResidual_Host(v_.Slot(c), step, sums_ + c);
  }
  PetscCall(PetscLogFlops(8.0 * v_.rows * v_.count));
  if (OfZ()) PetscCall(Precondition(k));
  if (norm_ != Norm::Unpreconditioned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SumOverRanks(v_.count));
  for (int c = 0; c < v_.count; c++)
    if (told_[c].outcome == GOES_ON) told_[c].norm = PetscSqrtReal(sums_[c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
