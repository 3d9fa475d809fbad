/// Solves with the fronts on the host: up the tree with L, down the tree with U, for several right-hand sides at once.
#include <algorithm>
#include "pc/lu/dense.hpp"
#include "pc/lu/numeric.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// The right-hand sides in the order of elimination, and what one front sees of them.
class Sweep
{
public:
  Sweep(const FrontTree &tree, const FrontPlan &plan, const Scalar *values, const PetscInt *local_row, PetscInt count,
        Scalar *w, PetscInt ldw, Scalar *scratch)
      : tree_(tree),
        plan_(plan),
        values_(values),
        local_row_(local_row),
        count_(count),
        w_(w),
        ldw_(static_cast<size_t>(ldw)),
        own_(scratch),
        others_(scratch + static_cast<size_t>(plan.most_pivots) * count)
  {
  }
  PetscErrorCode Forward(PetscInt f, bool transpose);
  PetscErrorCode Backward(PetscInt f, bool transpose);

private:
  void Gather(PetscInt f, bool exchanged);
  void Scatter(PetscInt f, bool exchanged);

  const FrontTree &tree_;
  const FrontPlan &plan_;
  const Scalar    *values_;
  const PetscInt  *local_row_;
  PetscInt         count_;
  Scalar          *w_;
  size_t           ldw_;
  Scalar          *own_;    ///< [pivots x count]
  Scalar          *others_; ///< [others x count]
};

/// `exchanged`: as rows have changed places within their tiles.
void Sweep::Gather(PetscInt f, bool exchanged)
{
  const PetscInt first = tree_.first[f], p = tree_.Pivots(f);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < p; k++)
      own_[static_cast<size_t>(c) * p + k] =
          w_[static_cast<size_t>(c) * ldw_ + first + (exchanged ? local_row_[first + k] : k)];
}
void Sweep::Scatter(PetscInt f, bool exchanged)
{
  const PetscInt first = tree_.first[f], p = tree_.Pivots(f);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < p; k++)
      w_[static_cast<size_t>(c) * ldw_ + first + (exchanged ? local_row_[first + k] : k)] =
          own_[static_cast<size_t>(c) * p + k];
}

PetscErrorCode Sweep::Forward(PetscInt f, bool transpose)
{
  const PetscInt  p = tree_.Pivots(f), r = tree_.Others(f), m = p + r;
  const PetscInt *row   = tree_.row.data() + tree_.row_begin[f];
  const Scalar   *lower = values_ + plan_.lower[f], *upper = values_ + plan_.upper[f];

  PetscFunctionBegin;
  Gather(f, !transpose);
  std::fill_n(others_, static_cast<size_t>(r) * count_, Scalar(0));
  if (transpose) {
    PetscCall(SolveUpperTransposed(p, count_, lower, m, own_, p));
    PetscCall(SubtractTransposedProduct(r, count_, p, upper, p, own_, p, others_, r));
  } else {
    PetscCall(SolveUnitLower(p, count_, lower, m, own_, p));
    PetscCall(SubtractProduct(r, count_, p, lower + p, m, own_, p, others_, r));
  }
  Scatter(f, false);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < r; k++)
      w_[static_cast<size_t>(c) * ldw_ + row[k]] += others_[static_cast<size_t>(c) * r + k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sweep::Backward(PetscInt f, bool transpose)
{
  const PetscInt  p = tree_.Pivots(f), r = tree_.Others(f), m = p + r;
  const PetscInt *row   = tree_.row.data() + tree_.row_begin[f];
  const Scalar   *lower = values_ + plan_.lower[f], *upper = values_ + plan_.upper[f];

  PetscFunctionBegin;
  Gather(f, false);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < r; k++)
      others_[static_cast<size_t>(c) * r + k] = w_[static_cast<size_t>(c) * ldw_ + row[k]];
  if (transpose) {
    PetscCall(SubtractTransposedProduct(p, count_, r, lower + p, m, others_, r, own_, p));
    PetscCall(SolveUnitLowerTransposed(p, count_, lower, m, own_, p));
  } else {
    PetscCall(SubtractProduct(p, count_, r, upper, p, others_, r, own_, p));
    PetscCall(SolveUpper(p, count_, lower, m, own_, p));
  }
  Scatter(f, transpose);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode LuSolve_Host(const FrontTree &tree, const FrontPlan &plan, const Scalar *values,
                            const PetscInt *local_row, bool transpose, PetscInt count, Scalar *w, PetscInt ldw,
                            Scalar *scratch)
{
  Sweep sweep(tree, plan, values, local_row, count, w, ldw, scratch);

  PetscFunctionBegin;
  for (PetscInt f = 0; f < tree.Fronts(); f++) PetscCall(sweep.Forward(f, transpose));
  for (PetscInt f = tree.Fronts() - 1; f >= 0; f--) PetscCall(sweep.Backward(f, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
