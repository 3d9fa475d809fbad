/// Strategies whose preconditioner is one factor of MATSOLVERSPARSEGPU of each process's diagonal block.
#pragma once

#include "device/device.hpp"
#include "pc/strategy/strategy.hpp"

namespace sparsegpu::strategy
{

class FactoredStrategy : public Strategy
{
public:
  using Strategy::Strategy;
  PetscErrorCode SetUp(PC pc) override;
  PetscErrorCode Apply(PC pc, Vec b, Vec x, bool transpose) override;
  PetscErrorCode ApplyMany(PC pc, Mat B, Mat X) override;
  PetscErrorCode View(PC pc, PetscViewer viewer) const override;
  PetscErrorCode Reset() override;
  Mat            FactorMatrix() const override { return factor_; }

protected:
  /// What becomes of zero pivots if no option says so.
  virtual MatFactorShiftType DefaultShift() const = 0;
  /// Collective, before the pattern of any process is analysed: errors of one process are those of all.
  virtual PetscErrorCode Agree(PC, Mat) const { return PETSC_SUCCESS; }
  /// Creates factor_ and finds its pattern; the factorization will run in `space`. kept: the order of elimination is
  /// one of an earlier matrix.
  virtual PetscErrorCode Symbolic(Mat A, Space space, bool kept) = 0;
  /// After the name of the kind: (levels of fill).
  virtual PetscErrorCode NameFill(std::string *) const { return PETSC_SUCCESS; }
  /// At the end of the line that View() begins with.
  virtual PetscErrorCode NameSolves(std::string *) const { return PETSC_SUCCESS; }

  Mat factor_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr; ///< the local parts of the caller's vectors, without copies

private:
  PetscErrorCode NewPattern(PC pc, Mat A);
};

} // namespace sparsegpu::strategy
