/// PCSPARSEGPU with LU of small blocks: the blocks' own class does the work, and there is no factor and no order.
#include <petsc/private/pcimpl.h>
#include "pc/strategy/strategy.hpp"

namespace sparsegpu::strategy
{

namespace
{
class BlocksStrategy : public Strategy
{
public:
  using Strategy::Strategy;
  PetscErrorCode SetUp(PC pc) override;
  PetscErrorCode Apply(PC, Vec b, Vec x, bool transpose) override
  {
    PetscFunctionBegin;
    PetscCall(blocks_->Apply(b, x, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode View(PC, PetscViewer viewer) const override
  {
    PetscFunctionBegin;
    PetscCall(options_->blocks.View(viewer));
    if (blocks_) PetscCall(blocks_->View(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode OptionsChanged() override { return Reset(); }
  PetscErrorCode Reset() override
  {
    blocks_.reset();
    return PETSC_SUCCESS;
  }

private:
  std::unique_ptr<BlockJacobi> blocks_; ///< of one pattern
};

PetscErrorCode BlocksStrategy::SetUp(PC pc)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  if (!blocks_ || pc->flag != SAME_NONZERO_PATTERN)
    PetscCallCXX(blocks_ = std::make_unique<BlockJacobi>(options_->blocks));
  PetscCall(blocks_->SetUp(pc, A, options_->info.zeropivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<Strategy> MakeBlocksStrategy(PcOptions *options, EliminationOrder *order)
{
  return std::make_unique<BlocksStrategy>(options, order);
}

} // namespace sparsegpu::strategy
