/// What incomplete and direct factors have in common as preconditioners: when the pattern is analysed, local vectors,
/// and PCView().
#include "pc/strategy/factored.hpp"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include "pc/factor/rows.hpp"

namespace sparsegpu::strategy
{

PetscErrorCode FactoredStrategy::Reset()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&factor_));
  PetscCall(VecDestroy(&b_));
  PetscCall(VecDestroy(&x_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactoredStrategy::NewPattern(PC pc, Mat A)
{
  Vec   b, x;
  Space space;

  PetscFunctionBegin;
  PetscCall(Reset());
  PetscCall(Agree(pc, A));
  if (!options_->keep_order) PetscCall(order_->Free());
  PetscCall(FactorSpace(A, &space));
  PetscCall(Symbolic(A, space, order_->row != nullptr));
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(VecCreateLocalVector(b, &b_));
  PetscCall(VecCreateLocalVector(x, &x_));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactoredStrategy::SetUp(PC pc)
{
  Mat            A;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  if (!options_->shift_is_set) options_->info.shifttype = static_cast<PetscReal>(DefaultShift());
  if (!factor_ || pc->flag != SAME_NONZERO_PATTERN) PetscCall(NewPattern(pc, A));
  PetscCall(options_->Symmetric() ? MatCholeskyFactorNumeric(factor_, A, &options_->info)
                                  : MatLUFactorNumeric(factor_, A, &options_->info));
  PetscCall(MatFactorGetError(factor_, &error));
  pc->failedreason = static_cast<PCFailedReason>(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactoredStrategy::Apply(PC, Vec b, Vec x, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(VecGetLocalVectorRead(b, b_));
  PetscCall(VecGetLocalVector(x, x_));
  PetscCall(transpose ? MatSolveTranspose(factor_, b_, x_) : MatSolve(factor_, b_, x_));
  PetscCall(VecRestoreLocalVector(x, x_));
  PetscCall(VecRestoreLocalVectorRead(b, b_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All columns in one solve. MatSolve() heeds a failed factor, which other processes need not have, MatMatSolve() does
/// not.
PetscErrorCode FactoredStrategy::ApplyMany(PC pc, Mat B, Mat X)
{
  Mat            b, x;
  MatFactorError failed;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLocalMatrix(B, &b));
  PetscCall(MatDenseGetLocalMatrix(X, &x));
  PetscCall(MatFactorGetError(factor_, &failed));
  PetscCall(failed ? Strategy::ApplyMany(pc, b, x) : MatMatSolve(factor_, b, x));
  if (x != X) PetscCall(PetscObjectStateIncrease((PetscObject)X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactoredStrategy::View(PC pc, PetscViewer viewer) const
{
  PetscViewer       mine; // the first process's block
  PetscViewerFormat format;
  PetscMPIInt       rank;
  std::string       fill, solves; // a line in one call, which indents

  PetscFunctionBegin;
  PetscCall(NameFill(&fill));
  PetscCall(NameSolves(&solves));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  factors of the diagonal blocks: %s%s, ordering: %s%s\n",
                                   FactorNames[static_cast<int>(options_->factor)], fill.c_str(),
                                   order_->name.empty() ? "not chosen yet" : order_->name.c_str(), solves.c_str()));
  if (!factor_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &mine));
  if (rank == 0) {
    PetscCall(PetscViewerPushFormat(mine, format == PETSC_VIEWER_ASCII_INFO_DETAIL ? format : PETSC_VIEWER_ASCII_INFO));
    PetscCall(PetscViewerASCIIPushTab(mine));
    PetscCall(MatView(factor_, mine));
    PetscCall(PetscViewerASCIIPopTab(mine));
    PetscCall(PetscViewerPopFormat(mine));
  }
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::strategy
