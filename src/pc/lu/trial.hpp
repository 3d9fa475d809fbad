/// The ways to factors of one matrix, and the choice among them.
#pragma once

#include "pc/factor/rows.hpp"
#include "pc/lu/attempt.hpp"
#include "pc/lu/factorize.hpp"
#include "pc/lu/reorder.hpp"

namespace sparsegpu::lu
{

/// The numeric phase of one matrix, by the ways that there are.
class Trial
{
public:
  Trial(Mat F, const MatrixRows &rows, HostRows *matrix, Reordering *reordering, const Scalar *a)
      : F_(F),
        factor_(DirectOf(F)),
        rows_(rows),
        matrix_(matrix),
        reordering_(reordering),
        a_(a)
  {
  }
  PetscErrorCode Run(Quality *quality);

private:
  PetscErrorCode InSingle(Quality *quality);
  PetscErrorCode Fronts(Quality *quality);
  PetscErrorCode Pairs(Quality *quality);
  bool           MayDefer() const { return factor_->kind == DirectKind::LU || factor_->Paired(); }
  PetscErrorCode WithOrder(bool alternative, Quality *quality);
  PetscErrorCode Improve(bool *full, Quality *quality);
  PetscErrorCode Pivoted(const char why[], Quality *quality);
  PetscErrorCode TakeRows()
  {
    PetscFunctionBegin;
    if (!matrix_->csr.i) PetscCall(matrix_->Take(rows_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat               F_;
  DirectFactor     *factor_;
  const MatrixRows &rows_;
  HostRows         *matrix_;
  Reordering       *reordering_;
  const Scalar     *a_;
  bool              left_ = false; ///< a better arrangement than the present one
  LuArrangement     before_;
};

} // namespace sparsegpu::lu
