/// One front on the host, and the elimination of its pivots, tile by tile.
#pragma once

#include <algorithm>
#include "pc/lu/dense.hpp"
#include "pc/lu/numeric.hpp"
#include "pc/lu/pairs_host.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// One front in its place, see FrontPlan.
template <class Number> struct Front {
  PetscInt pivots, others, rows;
  Number  *lower, *upper, *update, *scaled;
  Shape    shape;

  bool    Half() const { return shape != Shape::General; }
  Number *Column(PetscInt k) const
  {
    return lower + (Half() ? TileColumn(pivots, k) : static_cast<PetscCount>(k) * rows);
  }
  /// Below the pivots.
  Number *Rest(PetscInt k) const { return Half() ? upper + static_cast<size_t>(k) * others : Column(k) + pivots; }
  /// An entry of U, or of L^T or L^H.
  Number Mirrored(const Number &v) const { return shape == Shape::Hermitian ? Conj(v) : v; }
};

template <class Number>
Front<Number> TakeFront(const FrontTree &tree, const FrontPlan &plan, PetscInt f, Number *values, Number *work)
{
  const PetscInt p = tree.Pivots(f), r = tree.Others(f);
  return Front<Number>{
      p,         r, p + r, values + plan.lower[f], values + plan.upper[f], work + plan.update[f], work + plan.scaled,
      plan.shape};
}

template <class Number> void Swap(Number *a, Number *b, PetscInt count, PetscInt stride)
{
  for (PetscInt k = 0; k < count; k++)
    std::swap(a[static_cast<size_t>(k) * stride], b[static_cast<size_t>(k) * stride]);
}

template <class Number> class Elimination
{
public:
  Elimination(const Front<Number> &front, PetscInt first, const LuPivoting &pivoting, const PivotsOf<Number> &pivots,
              LuReport *report)
      : f_(front),
        first_(first),
        pivoting_(pivoting),
        local_row_(pivots.row),
        pair_(pivots.pair),
        met_(pivots.met),
        report_(report)
  {
  }
  PetscErrorCode Run()
  {
    PetscFunctionBegin;
    for (PetscInt k = 0; k < f_.pivots; k++) local_row_[k] = k;
    PetscCall(f_.Half() ? Symmetric() : General());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode General();
  PetscErrorCode Symmetric();

  void    Mirror(Number *T, PetscInt ld, PetscInt size);
  void    Scale(const Number *from, PetscInt ld, PetscInt rows, PetscInt begin, PetscInt size);
  void    Tile(Number *T, PetscInt ld, PetscInt begin, PetscInt size);
  void    TileOfPairs(Number *T, PetscInt ld, PetscInt begin, PetscInt size);
  void    Exchange(PetscInt k, PetscInt end);
  Number  Pivot(Number &pivot, PetscInt k);
  Number &L(PetscInt i, PetscInt k) { return f_.lower[static_cast<size_t>(k) * f_.rows + i]; }

  const Front<Number> &f_;
  PetscInt             first_;
  const LuPivoting    &pivoting_;
  PetscInt            *local_row_;
  PairCode            *pair_;
  Number              *met_;
  LuReport            *report_;
};

/// Of the rows of the tile the one with the largest entry of column k becomes row k, if row k's own is too small.
template <class Number> void Elimination<Number>::Exchange(PetscInt k, PetscInt end)
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

/// In place, see LuPivoting; its inverse.
template <class Number> Number Elimination<Number>::Pivot(Number &pivot, PetscInt k)
{
  if (f_.shape == Shape::Hermitian) pivot = Number(RealPart(pivot)); // as it is but for rounding
  const PetscReal magnitude = Magnitude(pivot);
  if (met_) met_[k] = pivot;
  if (!(magnitude - magnitude == 0)) report_->finite = false;
  report_->smallest = std::min(report_->smallest, magnitude);
  if (magnitude <= pivoting_.tiny) {
    report_->perturbed++;
    if (report_->first < 0 || first_ + k < report_->first) report_->first = first_ + k;
    pivot =
        magnitude > 0 ? FromReal<Number>(pivoting_.replace / magnitude) * pivot : FromReal<Number>(pivoting_.replace);
  }
  if (RealPart(pivot) < 0) report_->negative++;
  return Inverse(pivot);
}

/// Pivots begin .. begin + size - 1 in T [size x size], unblocked.
template <class Number> void Elimination<Number>::Tile(Number *T, PetscInt ld, PetscInt begin, PetscInt size)
{
  const auto column = [&](PetscInt j) { return T + static_cast<size_t>(j) * static_cast<size_t>(ld); };
  for (PetscInt k = 0; k < size; k++) {
    Number *const own = column(k);
    if (!f_.Half()) Exchange(begin + k, begin + size);
    const Number inverse = Pivot(own[k], begin + k);
    for (PetscInt i = k + 1; i < size; i++) own[i] = own[i] * inverse;
    for (PetscInt j = k + 1; j < size; j++) {
      Number *const other = column(j), u = other[k];
      for (PetscInt i = k + 1; i < size; i++) other[i] = other[i] - own[i] * u;
    }
  }
}

template <class Number> PetscErrorCode Elimination<Number>::General()
{
  const PetscInt m = f_.rows, p = f_.pivots, r = f_.others;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p; k += LU_TILE) {
    const PetscInt size = std::min(LU_TILE, p - k), next = k + size;
    Tile(&L(k, k), m, k, size);
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

/// A tile of pivots is factored with both triangles.
template <class Number> void Elimination<Number>::Mirror(Number *T, PetscInt ld, PetscInt size)
{
  for (PetscInt k = 0; k < size; k++)
    for (PetscInt j = k + 1; j < size; j++)
      T[k + static_cast<size_t>(j) * ld] = f_.Mirrored(T[j + static_cast<size_t>(k) * ld]);
}

/// scaled [size x rows]: columns of U, D L^T or D L^H, from rows of L's columns `begin` ...
template <class Number>
void Elimination<Number>::Scale(const Number *from, PetscInt ld, PetscInt rows, PetscInt begin, PetscInt size)
{
  for (PetscInt k = 0; k < size; k++) {
    const Number  pivot  = f_.Column(begin + k)[begin + k];
    const Number *column = from + static_cast<size_t>(k) * static_cast<size_t>(ld);
    for (PetscInt i = 0; i < rows; i++) f_.scaled[static_cast<size_t>(i) * size + k] = pivot * f_.Mirrored(column[i]);
  }
}

/// The same with pivots of order 1 and 2, which the rows below and the columns before are brought to.
template <class Number> void Elimination<Number>::TileOfPairs(Number *T, PetscInt ld, PetscInt begin, PetscInt size)
{
  const PetscInt  below = f_.pivots - begin - size;
  const TileOrder order{size, local_row_ + begin, pair_ + begin};
  PetscInt        from[LU_TILE];
  Number          was[LU_TILE];

  PairedTile<Number>(T, ld, f_.shape == Shape::Hermitian, order).Factor([&](PetscInt k, Number &pivot) {
    return Pivot(pivot, begin + k);
  });
  for (PetscInt k = 0; k < size; k++) from[k] = order.row[k] - begin;
  for (PetscInt i = 0; i < below; i++) TurnColumns(order, from, T + size + i, ld, was);
  for (PetscInt i = 0; i < f_.others; i++) TurnColumns(order, from, f_.Rest(begin) + i, f_.others, was);
  for (PetscInt k = 0; k < begin; k++) TurnRows(order, from, f_.Column(k) + begin, was);
}

template <class Number> PetscErrorCode Elimination<Number>::Symmetric()
{
  const PetscInt p = f_.pivots, r = f_.others;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p; k += LU_TILE) {
    const PetscInt size = std::min(LU_TILE, p - k), next = k + size, ld = p - k;
    Number *const  T = f_.lower + TileBegin(p, k);
    Mirror(T, ld, size);
    pair_ ? TileOfPairs(T, ld, k, size) : Tile(T, ld, k, size);
    PetscCall(SolveUpperRight(p - next, size, T, ld, T + size, ld));
    PetscCall(SolveUpperRight(r, size, T, ld, f_.Rest(k), r));
    if (next == p) break;
    Scale(T + size, ld, p - next, k, size);
    for (PetscInt j = next; j < p; j += LU_TILE)
      PetscCall(SubtractProduct(p - j, std::min(LU_TILE, p - j), size, T + (j - k), ld,
                                f_.scaled + static_cast<size_t>(j - next) * size, size, f_.lower + TileBegin(p, j),
                                p - j));
    PetscCall(SubtractProduct(r, p - next, size, f_.Rest(k), r, f_.scaled, size, f_.Rest(next), r));
  }
  for (PetscInt k = 0; k < p && r > 0; k += SCALED_PIVOTS) {
    const PetscInt size = std::min(SCALED_PIVOTS, p - k);
    Scale(f_.Rest(k), r, r, k, size);
    PetscCall(SubtractLowerProduct(r, size, f_.Rest(k), r, f_.scaled, size, f_.update, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
