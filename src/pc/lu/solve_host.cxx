/// Solves with the fronts on the host: up the tree with L, down the tree with U, for several right-hand sides at once.
/// In symmetric factorizations U is D L^T, or D L^H.
#include <algorithm>
#include "pc/lu/dense.hpp"
#include "pc/lu/numeric.hpp"
#include "pc/lu/pairs_host.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// The right-hand sides in the order of elimination, and what one front sees of them.
template <class Number> class Sweep
{
public:
  Sweep(const FrontTree &tree, const FrontPlan &plan, const Number *values, const PetscInt *local_row,
        const PairCode *pair, PetscInt count, Number *w, PetscInt ldw, Number *scratch)
      : tree_(tree),
        plan_(plan),
        values_(values),
        local_row_(local_row),
        pair_(pair),
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
  PetscErrorCode             ForwardHalf(PetscInt p, PetscInt r, const Number *lower, const Number *below);
  PetscErrorCode             BackwardHalf(PetscInt p, PetscInt r, const Number *lower, const Number *below);
  void                       Gather(PetscInt f, bool exchanged);
  void                       Scatter(PetscInt f, bool exchanged);
  template <class Turn> void TurnPairs(PetscInt f, const Turn &turn);

  const FrontTree &tree_;
  const FrontPlan &plan_;
  const Number    *values_;
  const PetscInt  *local_row_;
  const PairCode  *pair_; ///< null: rows of a symmetric factorization stay where they are
  PetscInt         count_;
  Number          *w_;
  size_t           ldw_;
  Number          *own_;    ///< [pivots x count]
  Number          *others_; ///< [others x count]
};

/// `exchanged`: as rows have changed places within their tiles.
template <class Number> void Sweep<Number>::Gather(PetscInt f, bool exchanged)
{
  const PetscInt first = tree_.first[f], p = tree_.Pivots(f);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < p; k++)
      own_[static_cast<size_t>(c) * p + k] =
          w_[static_cast<size_t>(c) * ldw_ + first + (exchanged ? local_row_[first + k] : k)];
}
template <class Number> void Sweep<Number>::Scatter(PetscInt f, bool exchanged)
{
  const PetscInt first = tree_.first[f], p = tree_.Pivots(f);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < p; k++)
      w_[static_cast<size_t>(c) * ldw_ + first + (exchanged ? local_row_[first + k] : k)] =
          own_[static_cast<size_t>(c) * p + k];
}

/// Each pair of pivots as turn(code, own, other) has it.
template <class Number> template <class Turn> void Sweep<Number>::TurnPairs(PetscInt f, const Turn &turn)
{
  const PetscInt  p    = tree_.Pivots(f);
  const PairCode *code = pair_ + tree_.first[f];
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < p; k++) {
      if (code[k] <= 0) continue;
      Number *const own = own_ + static_cast<size_t>(c) * p + k, first = own[0], second = own[1];
      own[0] = turn(code[k], first, second);
      own[1] = turn(-code[k], second, first);
    }
}

/// With L.
template <class Number>
PetscErrorCode Sweep<Number>::ForwardHalf(PetscInt p, PetscInt r, const Number *lower, const Number *below)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < p; k += LU_TILE) {
    const PetscInt size = std::min(LU_TILE, p - k), next = k + size, ld = p - k;
    const Number  *T = lower + TileBegin(p, k);
    PetscCall(SolveUnitLower(size, count_, T, ld, own_ + k, p));
    PetscCall(SubtractProduct(p - next, count_, size, T + size, ld, own_ + k, p, own_ + next, p));
  }
  PetscCall(SubtractProduct(r, count_, p, below, r, own_, p, others_, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With D, then L^T or L^H.
template <class Number>
PetscErrorCode Sweep<Number>::BackwardHalf(PetscInt p, PetscInt r, const Number *lower, const Number *below)
{
  const bool conjugate = plan_.shape == Shape::Hermitian;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p; k++) {
    const Number inverse = Inverse(lower[TileColumn(p, k) + k]);
    for (PetscInt c = 0; c < count_; c++) {
      Number &v = own_[static_cast<size_t>(c) * p + k];
      v         = v * inverse;
    }
  }
  PetscCall(SubtractTransposedProduct(conjugate, p, count_, r, below, r, others_, r, own_, p));
  for (PetscInt k = (p - 1) / LU_TILE * LU_TILE; k >= 0; k -= LU_TILE) {
    const PetscInt size = std::min(LU_TILE, p - k), next = k + size, ld = p - k;
    const Number  *T = lower + TileBegin(p, k);
    PetscCall(SubtractTransposedProduct(conjugate, size, count_, p - next, T + size, ld, own_ + next, p, own_ + k, p));
    PetscCall(SolveUnitLowerTransposed(conjugate, size, count_, T, ld, own_ + k, p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode Sweep<Number>::Forward(PetscInt f, bool transpose)
{
  const PetscInt  p = tree_.Pivots(f), r = tree_.Others(f), m = p + r;
  const PetscInt *row   = tree_.row.data() + tree_.row_begin[f];
  const Number   *lower = values_ + plan_.lower[f], *upper = values_ + plan_.upper[f];

  PetscFunctionBegin;
  Gather(f, plan_.Half() ? pair_ != nullptr : !transpose);
  if (pair_) TurnPairs(f, Turned<Number>);
  std::fill_n(others_, static_cast<size_t>(r) * count_, Number(0));
  if (plan_.Half()) {
    PetscCall(ForwardHalf(p, r, lower, upper));
  } else if (transpose) {
    PetscCall(SolveUpperTransposed(p, count_, lower, m, own_, p));
    PetscCall(SubtractTransposedProduct(false, r, count_, p, upper, p, own_, p, others_, r));
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

template <class Number> PetscErrorCode Sweep<Number>::Backward(PetscInt f, bool transpose)
{
  const PetscInt  p = tree_.Pivots(f), r = tree_.Others(f), m = p + r;
  const PetscInt *row   = tree_.row.data() + tree_.row_begin[f];
  const Number   *lower = values_ + plan_.lower[f], *upper = values_ + plan_.upper[f];

  PetscFunctionBegin;
  Gather(f, false);
  for (PetscInt c = 0; c < count_; c++)
    for (PetscInt k = 0; k < r; k++)
      others_[static_cast<size_t>(c) * r + k] = w_[static_cast<size_t>(c) * ldw_ + row[k]];
  if (plan_.Half()) {
    PetscCall(BackwardHalf(p, r, lower, upper));
  } else if (transpose) {
    PetscCall(SubtractTransposedProduct(false, p, count_, r, lower + p, m, others_, r, own_, p));
    PetscCall(SolveUnitLowerTransposed(false, p, count_, lower, m, own_, p));
  } else {
    PetscCall(SubtractProduct(p, count_, r, upper, p, others_, r, own_, p));
    PetscCall(SolveUpper(p, count_, lower, m, own_, p));
  }
  if (pair_) TurnPairs(f, TurnedBack<Number>);
  Scatter(f, plan_.Half() ? pair_ != nullptr : transpose);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Number> PetscErrorCode LuSolve_Host(const FrontTree &tree, const FrontPlan &plan, const Number *values,
                                                    const PetscInt *local_row, const PairCode *pair, bool transpose,
                                                    Sweeps sweeps, PetscInt count, Number *w, PetscInt ldw,
                                                    Number *scratch)
{
  Sweep<Number> sweep(tree, plan, values, local_row, pair, count, w, ldw, scratch);
  const auto    conjugate = [&] { // A^T is the conjugate of a Hermitian A
    for (PetscInt c = 0; c < count && transpose && plan.shape == Shape::Hermitian; c++)
      for (PetscInt k = 0; k < tree.first.back(); k++) {
           Number &v = w[static_cast<size_t>(c) * ldw + k];
           v         = Conj(v);
      }
  };

  PetscFunctionBegin;
  conjugate();
  for (PetscInt f = 0; f < tree.Fronts() && sweeps != Sweeps::Backward; f++)
    PetscCall(sweep.Forward(f, transpose && !plan.Half()));
  for (PetscInt f = tree.Fronts() - 1; f >= 0 && sweeps != Sweeps::Forward; f--)
    PetscCall(sweep.Backward(f, transpose && !plan.Half()));
  conjugate();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode LuSolve_Host(const FrontTree &, const FrontPlan &, const Scalar *, const PetscInt *,
                                     const PairCode *, bool, Sweeps, PetscInt, Scalar *, PetscInt, Scalar *);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode LuSolve_Host(const FrontTree &, const FrontPlan &, const Single *, const PetscInt *,
                                     const PairCode *, bool, Sweeps, PetscInt, Single *, PetscInt, Single *);
#endif

} // namespace sparsegpu::lu
