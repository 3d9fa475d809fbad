/// The numeric factorization on the host: front after front in postorder, each in tiles of pivots.
#include <algorithm>
#include "pc/lu/dense.hpp"
#include "pc/lu/numeric.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// One front in its place: columns of L with ld rows, rows of U with ld pivots, the update with ld others.
struct Front {
  PetscInt pivots, others, rows;
  Scalar  *lower, *upper, *update;
};

Front TakeFront(const FrontTree &tree, const FrontPlan &plan, PetscInt f, Scalar *values, Scalar *work)
{
  const PetscInt p = tree.Pivots(f), r = tree.Others(f);
  return Front{p, r, p + r, values + plan.lower[f], values + plan.upper[f], work + plan.update[f]};
}

/// The update of child c is added where the parent has its rows and columns.
void Extend(const PetscInt *at, const Front &child, const Front &parent)
{
  const size_t m = static_cast<size_t>(parent.rows), p = static_cast<size_t>(parent.pivots),
               r = static_cast<size_t>(parent.others);
  // rows ascend: those of the parent's pivots come first
  const PetscInt split = static_cast<PetscInt>(std::lower_bound(at, at + child.others, parent.pivots) - at);
  for (PetscInt b = 0; b < child.others; b++) {
    const Scalar *from = child.update + static_cast<size_t>(b) * static_cast<size_t>(child.others);
    const size_t  j    = static_cast<size_t>(at[b]);
    if (b < split) {
      Scalar *to = parent.lower + j * m;
      for (PetscInt a = 0; a < child.others; a++) to[at[a]] += from[a];
    } else {
      Scalar *top = parent.upper + (j - p) * p, *rest = parent.update + (j - p) * r;
      for (PetscInt a = 0; a < split; a++) top[at[a]] += from[a];
      for (PetscInt a = split; a < child.others; a++) rest[at[a] - parent.pivots] += from[a];
    }
  }
}

void Swap(Scalar *a, Scalar *b, PetscInt count, PetscInt stride)
{
  for (PetscInt k = 0; k < count; k++)
    std::swap(a[static_cast<size_t>(k) * stride], b[static_cast<size_t>(k) * stride]);
}

class Elimination
{
public:
  Elimination(const Front &front, PetscInt first, const LuPivoting &pivoting, PetscInt *local_row, LuReport *report)
      : f_(front),
        first_(first),
        pivoting_(pivoting),
        local_row_(local_row),
        report_(report)
  {
  }
  PetscErrorCode Run();

private:
  void    Tile(PetscInt begin, PetscInt size);
  void    Exchange(PetscInt begin, PetscInt k, PetscInt end);
  Scalar  Pivot(PetscInt k);
  Scalar &L(PetscInt i, PetscInt k) { return f_.lower[static_cast<size_t>(k) * f_.rows + i]; }

  const Front      &f_;
  PetscInt          first_;
  const LuPivoting &pivoting_;
  PetscInt         *local_row_;
  LuReport         *report_;
};

/// Of the rows of the tile the one with the largest entry of column k becomes row k, if row k's own is too small.
void Elimination::Exchange(PetscInt begin, PetscInt k, PetscInt end)
{
  PetscInt  best = k;
  PetscReal most = Magnitude(L(k, k));
  if (pivoting_.exchange <= 0) return;
  for (PetscInt i = k + 1; i < end; i++) {
    const PetscReal a = Magnitude(L(i, k));
    if (a > most) {
      most = a;
      best = i;
    }
  }
  if (best == k || Magnitude(L(k, k)) >= pivoting_.exchange * most) return;
  Swap(&L(k, 0), &L(best, 0), f_.pivots, f_.rows);
  if (f_.others > 0) Swap(f_.upper + k, f_.upper + best, f_.others, f_.pivots);
  std::swap(local_row_[k], local_row_[best]);
}

Scalar Elimination::Pivot(PetscInt k)
{
  Scalar         &pivot     = L(k, k);
  const PetscReal magnitude = Magnitude(pivot);
  if (!(magnitude - magnitude == 0)) report_->finite = false;
  report_->smallest = std::min(report_->smallest, magnitude);
  if (magnitude <= pivoting_.tiny) {
    report_->perturbed++;
    if (report_->first < 0 || first_ + k < report_->first) report_->first = first_ + k;
    pivot = magnitude > 0 ? Scalar(pivoting_.replace / magnitude) * pivot : Scalar(pivoting_.replace);
  }
  if (RealPart(pivot) < 0) report_->negative++;
  return Inverse(pivot);
}

/// Rows begin .. begin + size - 1 of L11 and U11, unblocked.
void Elimination::Tile(PetscInt begin, PetscInt size)
{
  const PetscInt end = begin + size;
  for (PetscInt k = begin; k < end; k++) {
    Exchange(begin, k, end);
    const Scalar inverse = Pivot(k);
    for (PetscInt i = k + 1; i < end; i++) L(i, k) = L(i, k) * inverse;
    for (PetscInt j = k + 1; j < end; j++) {
      const Scalar u = L(k, j);
      for (PetscInt i = k + 1; i < end; i++) L(i, j) = L(i, j) - L(i, k) * u;
    }
  }
}

PetscErrorCode Elimination::Run()
{
  const PetscInt m = f_.rows, p = f_.pivots, r = f_.others;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p; k++) local_row_[k] = k;
  for (PetscInt k = 0; k < p; k += LU_TILE) {
    const PetscInt size = std::min(LU_TILE, p - k), next = k + size;
    Tile(k, size);
    PetscCall(SolveUpperRight(m - next, size, &L(k, k), m, &L(next, k), m));
    if (next < p) {
      PetscCall(SolveUnitLower(size, p - next, &L(k, k), m, &L(k, next), m));
      PetscCall(SubtractProduct(m - next, p - next, size, &L(next, k), m, &L(k, next), m, &L(next, next), m));
    }
    if (r == 0) continue;
    PetscCall(SolveUnitLower(size, r, &L(k, k), m, f_.upper + k, p));
    PetscCall(
        SubtractProduct(p - next, r, size, next < p ? &L(next, k) : nullptr, m, f_.upper + k, p, f_.upper + next, p));
  }
  if (r > 0) PetscCall(SubtractProduct(r, r, p, f_.lower + p, m, f_.upper, p, f_.update, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The larger of `growth` and the largest part of the factored front's entries, which are still in the caches.
PetscReal RaiseGrowth(const Front &front, PetscReal growth)
{
  const size_t p = static_cast<size_t>(front.pivots);
  for (size_t k = 0; k < p * static_cast<size_t>(front.rows); k++)
    growth = std::max(growth, LargestPart(front.lower[k]));
  for (size_t k = 0; k < p * static_cast<size_t>(front.others); k++)
    growth = std::max(growth, LargestPart(front.upper[k]));
  return growth;
}
} // namespace

PetscErrorCode LuNumeric_Host(const FrontTree &tree, const FrontPlan &plan, const LuPivoting &pivoting, Scalar *values,
                              PetscInt *local_row, Scalar *work, LuReport *report)
{
  const PetscInt                     fronts = tree.Fronts();
  std::vector<std::vector<PetscInt>> children;

  PetscFunctionBegin;
  PetscCallCXX(children.resize(fronts));
  for (PetscInt f = 0; f < fronts; f++)
    if (tree.parent[f] >= 0) PetscCallCXX(children[tree.parent[f]].push_back(f));
  *report          = LuReport();
  report->smallest = fronts > 0 ? PETSC_MAX_REAL : 0;
  for (const PetscInt f : plan.step) {
    const Front front = TakeFront(tree, plan, f, values, work);
    std::fill_n(front.update, static_cast<size_t>(front.others) * front.others, Scalar(0));
    for (const PetscInt c : children[f])
      Extend(tree.relative.data() + tree.row_begin[c], TakeFront(tree, plan, c, values, work), front);
    PetscCall(Elimination(front, tree.first[f], pivoting, local_row + tree.first[f], report).Run());
    report->growth = RaiseGrowth(front, report->growth);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
