/// One sweep of the host engine at a time, the pivots, and the front that is not factored.
#include "pc/lu/engine_host.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

template <class Number> PetscErrorCode HostFactors<Number>::Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used)
{
  const LuAnalysis &A = *analysis_;

  PetscFunctionBegin;
  PetscCallCXX(met->resize(met_.size()));
  PetscCallCXX(used->resize(A.rows));
  for (size_t k = 0; k < met_.size(); k++) (*met)[k] = Widened(met_[k]);
  for (PetscInt f = 0; f < A.tree.Fronts(); f++) {
    const PetscInt   p = A.tree.Pivots(f);
    const PetscCount m = p + A.tree.Others(f);
    for (PetscInt k = 0; k < p; k++)
      (*used)[A.tree.first[f] + k] = Widened(values_[A.plan.lower[f] + (A.plan.Half() ? TileColumn(p, k) : k * m) + k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode HostFactors<Number>::Apart(Scalar *block)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < apart_.size(); k++) block[k] = Widened(apart_[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode HostFactors<Number>::ApplyHalf(const LuHalf &half, const LuColumns &columns,
                                                                      const Scalar *b, PetscInt ldb, Scalar *x,
                                                                      PetscInt ldx)
{
  const LuAnalysis            &A       = *analysis_;
  const std::vector<PetscInt> &from    = half.transpose ? A.column_order : A.row_order,
                              &to      = half.transpose ? A.row_order : A.column_order;
  const std::vector<PetscReal> &before = half.transpose ? column_scale_ : row_scale_,
                               &after  = half.transpose ? row_scale_ : column_scale_;
  const size_t           n             = static_cast<size_t>(A.rows);
  std::vector<PetscReal> root;
  std::vector<Scalar>    met, used;

  PetscFunctionBegin;
  PetscCallCXX(root.assign(n, 1));
  if (half.roots && A.plan.Half()) PetscCall(Pivots(&met, &used));
  for (size_t k = 0; k < used.size(); k++) root[k] = PetscSqrtReal(RealPart(used[k]));
  PetscCall(TakeColumns(columns.count));
  for (PetscInt c = 0; c < columns.count; c++) {
    const Scalar *const own    = b + static_cast<size_t>(columns.at[c]) * ldb;
    Scalar *const       result = x + static_cast<size_t>(columns.at[c]) * ldx;
    const auto          entry  = [&](size_t k) {
      return half.forward ? Scalar(before[from[k]]) * own[from[k]] : Scalar(root[k]) * own[k];
    };
    PetscReal largest = 0;
    for (size_t k = 0; k < n; k++)
      if (IsFinite(Magnitude(entry(k)))) largest = std::max(largest, Magnitude(entry(k)));
    const PetscReal range = RangeScale(largest);
    for (size_t k = 0; k < n; k++) w_[k] = Rounded<Number>(Scalar(range) * entry(k));
    PetscCall(Sweep(half.transpose, half.forward ? Sweeps::Forward : Sweeps::Backward, 1));
    for (size_t k = 0; k < n; k++) {
      const Scalar v = Scalar(1 / range) * Widened(w_[k]);
      if (half.forward)
        result[k] = Scalar(1 / root[k]) * v;
      else
        result[to[k]] = Scalar(after[to[k]]) * v;
    }
  }
  PetscCall(PetscLogFlops(A.plan.solve_flops / 2 * columns.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode HostFactors<Scalar>::Pivots(std::vector<Scalar> *, std::vector<Scalar> *);
template PetscErrorCode HostFactors<Scalar>::Apart(Scalar *);
template PetscErrorCode HostFactors<Scalar>::ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt,
                                                       Scalar *, PetscInt);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode HostFactors<Single>::Pivots(std::vector<Scalar> *, std::vector<Scalar> *);
template PetscErrorCode HostFactors<Single>::Apart(Scalar *);
template PetscErrorCode HostFactors<Single>::ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt,
                                                       Scalar *, PetscInt);
#endif

} // namespace sparsegpu::lu
