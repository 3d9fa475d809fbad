/// The numeric factorization on the host: front after front in postorder.
#include <algorithm>
#include <optional>
#include "pc/lu/front_host.hpp"
#include "pc/lu/numeric.hpp"
#include "pc/symbolic/elimination.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// The update of child c is added where the parent has its rows and columns, of symmetric fronts its lower triangle.
template <class Number> void Extend(const PetscInt *at, const Front<Number> &child, const Front<Number> &parent)
{
  const size_t p = static_cast<size_t>(parent.pivots), r = static_cast<size_t>(parent.others);
  // rows ascend: those of the parent's pivots come first
  const PetscInt split = static_cast<PetscInt>(std::lower_bound(at, at + child.others, parent.pivots) - at);
  for (PetscInt b = 0; b < child.others; b++) {
    const Number *from = child.update + static_cast<size_t>(b) * static_cast<size_t>(child.others);
    const size_t  j    = static_cast<size_t>(at[b]);
    Number *const top  = b < split ? parent.Column(at[b]) : parent.upper + (j - p) * p;
    Number *const rest = b < split ? parent.Rest(at[b]) : parent.update + (j - p) * r;
    PetscInt      a    = parent.Half() ? b : 0;
    for (; a < split; a++) top[at[a]] += from[a];
    for (; a < child.others; a++) rest[at[a] - parent.pivots] += from[a];
  }
}

/// The larger of `growth` and the largest part of the factored front's entries, which are still in the caches. Of a
/// symmetric factorization these are D, L and U, which is not stored.
template <class Number> PetscReal RaiseGrowth(const Front<Number> &front, PetscReal growth)
{
  const PetscInt p = front.pivots, m = front.rows;
  const auto     raise = [&](const Number *entry, PetscInt begin, PetscInt end, const Number &pivot) {
    for (PetscInt i = begin; i < end; i++) {
      growth = std::max(growth, PetscReal(LargestPart(entry[i])));
      if (front.Half()) growth = std::max(growth, PetscReal(LargestPart(pivot * entry[i])));
    }
  };
  for (PetscInt k = 0; k < p; k++) {
    const Number *column = front.Column(k), pivot = column[k];
    growth = std::max(growth, PetscReal(LargestPart(pivot)));
    raise(column, front.Half() ? k + 1 : 0, front.Half() ? p : m, pivot);
    raise(front.upper + static_cast<size_t>(k) * front.others, 0, front.others, pivot);
  }
  return growth;
}
/// See LuNumeric_Host().
template <class Number> void TakeApart(const Front<Number> &front, Number *apart, const PivotsOf<Number> &pivots)
{
  const PetscInt p = front.pivots;
  for (PetscInt j = 0; j < p; j++)
    for (PetscInt i = 0; i < p; i++)
      apart[i + static_cast<size_t>(j) * p] =
          front.Half() && i < j ? front.Mirrored(front.Column(i)[j]) : front.Column(j)[i];
  for (PetscInt j = 0; j < p; j++) {
    for (PetscInt i = front.Half() ? j : 0; i < p; i++) front.Column(j)[i] = Number(i == j);
    pivots.row[j] = j;
    if (pivots.pair) pivots.pair[j] = 0;
    if (pivots.met) pivots.met[j] = Number(1);
  }
}
} // namespace

template <class Number> PetscErrorCode LuNumeric_Host(const FrontTree &tree, const FrontPlan &plan,
                                                      const LuPivoting &pivoting, const PivotsOf<Number> &pivots,
                                                      Number *values, Number *apart, Number *work, LuReport *report)
{
  const PetscInt                    fronts = tree.Fronts();
  std::optional<symbolic::Children> children;

  PetscFunctionBegin;
  PetscCallCXX(children.emplace(tree.parent));
  *report          = LuReport();
  report->smallest = fronts > 0 ? PETSC_MAX_REAL : 0;
  for (const PetscInt f : plan.step) {
    const Front<Number> front = TakeFront(tree, plan, f, values, work);
    std::fill_n(front.update, static_cast<size_t>(front.others) * front.others, Number(0));
    for (const PetscInt c : children->Of(f))
      Extend(tree.relative.data() + tree.row_begin[c], TakeFront(tree, plan, c, values, work), front);
    if (f == tree.apart) {
      TakeApart(front, apart, pivots.From(tree.first[f]));
      continue;
    }
    PetscCall(Elimination<Number>(front, tree.first[f], pivoting, pivots.From(tree.first[f]), report).Run());
    report->growth = RaiseGrowth(front, report->growth);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode LuNumeric_Host(const FrontTree &, const FrontPlan &, const LuPivoting &,
                                       const PivotsOf<Scalar> &, Scalar *, Scalar *, Scalar *, LuReport *);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode LuNumeric_Host(const FrontTree &, const FrontPlan &, const LuPivoting &,
                                       const PivotsOf<Single> &, Single *, Single *, Single *, LuReport *);
#endif

} // namespace sparsegpu::lu
