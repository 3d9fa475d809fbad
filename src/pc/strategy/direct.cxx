/// PCSPARSEGPU with LU or Cholesky factors. A solve that misses its error bound sets the preconditioner's failed
/// reason.
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include "pc/lu/matsolver.hpp"
#include "pc/strategy/factored.hpp"
#include "sparsegpu.h"

namespace sparsegpu::strategy
{

namespace
{
class DirectStrategy : public FactoredStrategy
{
public:
  using FactoredStrategy::FactoredStrategy;
  PetscErrorCode Apply(PC pc, Vec b, Vec x, bool transpose) override;
  PetscErrorCode ApplyMany(PC pc, Mat B, Mat X) override;

protected:
  MatFactorShiftType DefaultShift() const override { return MAT_SHIFT_NONE; }
  PetscErrorCode     Symbolic(Mat A, Space space, bool kept) override;

private:
  PetscErrorCode TellReason(PC pc) const;
};

PetscErrorCode DirectStrategy::Symbolic(Mat A, Space, bool)
{
  const bool cholesky = options_->factor == FactorChoice::Cholesky;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, cholesky ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, &factor_));
  PetscCall(order_->Find(A, options_->ordering.empty() ? MATORDERINGLEASTFILL : options_->ordering.c_str()));
  if (cholesky)
    PetscCall(MatCholeskyFactorSymbolic(factor_, A, order_->row, &options_->info));
  else
    PetscCall(MatLUFactorSymbolic(factor_, A, order_->row, order_->column, &options_->info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How the last solve went: KSPPREONLY looks at the reason after it has applied the preconditioner.
PetscErrorCode DirectStrategy::TellReason(PC pc) const
{
  bool           solved;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(lu::DirectSolved(factor_, &solved));
  PetscCall(MatFactorGetError(factor_, &error));
  pc->failedreason = error ? static_cast<PCFailedReason>(error) : solved ? PC_NOERROR : PC_FACTOR_OTHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectStrategy::Apply(PC pc, Vec b, Vec x, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(FactoredStrategy::Apply(pc, b, x, transpose));
  PetscCall(TellReason(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A column without a solution marks the factor as failed, and all of X is infinite.
PetscErrorCode DirectStrategy::ApplyMany(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(FactoredStrategy::ApplyMany(pc, B, X));
  PetscCall(TellReason(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<Strategy> MakeDirectStrategy(PcOptions *options, EliminationOrder *order)
{
  return std::make_unique<DirectStrategy>(options, order);
}

} // namespace sparsegpu::strategy
