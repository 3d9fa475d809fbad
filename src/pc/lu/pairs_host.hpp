/// A tile of a symmetric indefinite matrix on the host, with pivots of order 1 and 2: see pairs.hpp.
#pragma once

#include <algorithm>
#include "pc/lu/pairs.hpp"
#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

/// The order of a tile's rows and columns, and which of its pivots are pairs.
struct TileOrder {
  PetscInt  size;
  PetscInt *row;  ///< [size] which of the front's rows each pivot is
  PairCode *pair; ///< [size]
};

/// Both triangles of T [size x size], columns ld apart.
template <class Number> class PairedTile
{
public:
  PairedTile(Number *T, PetscInt ld, bool hermitian, const TileOrder &order)
      : T_(T),
        ld_(static_cast<size_t>(ld)),
        size_(order.size),
        hermitian_(hermitian),
        order_(order)
  {
  }
  /// L below the diagonal, D on it, U = D L^T, or D L^H, above it. take(k, pivot) decides what is used as pivot k and
  /// returns the inverse of that.
  template <class Take> void Factor(const Take &take)
  {
    std::fill_n(order_.pair, size_, PairCode(0));
    for (PetscInt k = 0; k < size_; k++) {
      const bool pair = Choose(k);
      Eliminate(k, take);
      if (pair) Eliminate(++k, take);
    }
  }

private:
  Number &At(PetscInt i, PetscInt j) { return T_[static_cast<size_t>(i) + static_cast<size_t>(j) * ld_]; }

  void Swap(PetscInt a, PetscInt b)
  {
    if (a == b) return;
    for (PetscInt i = 0; i < size_; i++) std::swap(At(i, a), At(i, b));
    for (PetscInt j = 0; j < size_; j++) std::swap(At(a, j), At(b, j));
    std::swap(order_.row[a], order_.row[b]);
  }
  void Turn(PetscInt k)
  {
    const int code     = BestPair(hermitian_, At(k, k), At(k, k + 1), At(k + 1, k), At(k + 1, k + 1));
    order_.pair[k]     = static_cast<PairCode>(code);
    order_.pair[k + 1] = static_cast<PairCode>(-code);
    for (PetscInt i = 0; i < size_; i++) {
      const Number a = At(i, k), b = At(i, k + 1);
      At(i, k)     = TurnedColumn(code, a, b);
      At(i, k + 1) = TurnedColumn(-code, b, a);
    }
    for (PetscInt j = 0; j < size_; j++) {
      const Number a = At(k, j), b = At(k + 1, j);
      At(k, j)     = Turned(code, a, b);
      At(k + 1, j) = Turned(-code, b, a);
    }
  }
  /// Brings the next pivot to place k; true: two, to k and k + 1, combined. What is not a number never wins.
  bool Choose(PetscInt k)
  {
    PetscReal diagonal = 0, other = 0;
    PetscInt  at = k, row = k, column = k;
    for (PetscInt j = k; j < size_; j++) {
      const PetscReal own = Magnitude(At(j, j));
      if (own > diagonal) {
        diagonal = own;
        at       = j;
      }
      for (PetscInt i = j + 1; i < size_; i++) {
        const PetscReal size = Magnitude(At(i, j));
        if (!(size > other)) continue;
        other  = size;
        row    = i;
        column = j;
      }
    }
    if (!(diagonal < DIAGONAL_SHARE * other)) {
      Swap(k, at);
      return false;
    }
    Swap(k, column);
    Swap(k + 1, row);
    Turn(k);
    return true;
  }
  template <class Take> void Eliminate(PetscInt k, const Take &take)
  {
    const Number inverse = take(k, At(k, k));
    for (PetscInt i = k + 1; i < size_; i++) At(i, k) = At(i, k) * inverse;
    for (PetscInt j = k + 1; j < size_; j++) {
      const Number u = At(k, j);
      for (PetscInt i = k + 1; i < size_; i++) At(i, j) = At(i, j) - At(i, k) * u;
    }
  }

  Number   *T_;
  size_t    ld_;
  PetscInt  size_;
  bool      hermitian_;
  TileOrder order_;
};

/// entry [size], stride entries apart: a row's entries in the tile's columns become those in the columns of its pivots;
/// `from`: which column of the tile each pivot was.
template <class Number>
void TurnColumns(const TileOrder &order, const PetscInt *from, Number *entry, PetscInt stride, Number (&was)[LU_TILE])
{
  for (PetscInt k = 0; k < order.size; k++) was[k] = entry[static_cast<size_t>(from[k]) * stride];
  for (PetscInt k = 0; k < order.size; k++) {
    const int code                         = order.pair[k];
    entry[static_cast<size_t>(k) * stride] = code ? TurnedColumn(code, was[k], was[code > 0 ? k + 1 : k - 1]) : was[k];
  }
}
/// The same of entries in the tile's rows, or of a vector.
template <class Number>
void TurnRows(const TileOrder &order, const PetscInt *from, Number *entry, Number (&was)[LU_TILE])
{
  for (PetscInt k = 0; k < order.size; k++) was[k] = entry[from[k]];
  for (PetscInt k = 0; k < order.size; k++) {
    const int code = order.pair[k];
    entry[k]       = code ? Turned(code, was[k], was[code > 0 ? k + 1 : k - 1]) : was[k];
  }
}

} // namespace sparsegpu::lu
