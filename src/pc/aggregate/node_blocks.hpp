/// What smoothing with D of the blocks of nodes does to each node: a function object for ForEach() (operations.hpp).
#pragma once

#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/prolongator.hpp"

namespace sparsegpu::aggregate
{

/// Of A P0 in the rows of a node of P: P0 - damping D^-1 A P0. D is inverted by Gauss-Jordan with row exchanges.
struct ApplyNodeBlocks {
  ProlongatorInput          in;
  const PetscInt           *i, *j; ///< of P
  Scalar                   *p;
  static constexpr PetscInt MOST = Smoothing::MOST_UNKNOWNS;

  /// D's row r, and the diagonal entry alone. Weak entries as the sums have them.
  SPARSEGPU_HD void Row(PetscInt node, PetscInt r, Scalar *d) const
  {
    const PetscInt bs = in.block_size, row = node * bs + r;
    Scalar         weak[MOST];
    for (PetscInt s = 0; s < bs; s++) d[s] = weak[s] = Scalar(0);
    for (PetscInt e = in.A.arrays.i[row]; e < in.A.arrays.i[row + 1]; e++) {
      const PetscInt to = in.A.arrays.j[e] / bs, s = in.A.arrays.j[e] - to * bs;
      if (to == node)
        d[s] += in.A.arrays.a[e];
      else if (in.strong && !in.strong[e])
        weak[s] += in.A.arrays.a[e];
    }
    if (Magnitude(d[r] + weak[r]) > Magnitude(d[r]) / 4)
      for (PetscInt s = 0; s < bs; s++) d[s] += weak[s];
  }
  /// d = its inverse; false where it has none.
  SPARSEGPU_HD bool Invert(Scalar (*d)[MOST]) const
  {
    const PetscInt bs = in.block_size;
    PetscInt       from[MOST];
    for (PetscInt c = 0; c < bs; c++) {
      from[c] = c;
      for (PetscInt r = c + 1; r < bs; r++)
        if (Magnitude(d[r][c]) > Magnitude(d[from[c]][c])) from[c] = r;
      if (!(Magnitude(d[from[c]][c]) > 0)) return false;
      for (PetscInt s = 0; s < bs; s++) {
        const Scalar v = d[c][s];
        d[c][s]        = d[from[c]][s];
        d[from[c]][s]  = v;
      }
      const Scalar pivot = Inverse(d[c][c]);
      d[c][c]            = Scalar(1);
      for (PetscInt s = 0; s < bs; s++) d[c][s] = pivot * d[c][s];
      for (PetscInt r = 0; r < bs; r++) {
        if (r == c) continue;
        const Scalar factor = d[r][c];
        d[r][c]             = Scalar(0);
        for (PetscInt s = 0; s < bs; s++) d[r][s] = d[r][s] - factor * d[c][s];
      }
    }
    for (PetscInt c = bs - 1; c >= 0; c--) // rows that were exchanged are columns of the inverse
      for (PetscInt r = 0; r < bs && from[c] != c; r++) {
        const Scalar v = d[r][c];
        d[r][c]        = d[r][from[c]];
        d[r][from[c]]  = v;
      }
    return true;
  }
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt node = static_cast<PetscInt>(k), bs = in.block_size, own = in.of[node];
    Scalar         d[MOST][MOST], y[MOST];
    if (own < 0) return;
    for (PetscInt r = 0; r < bs; r++) Row(node, r, d[r]);
    if (!Invert(d))
      for (PetscInt r = 0; r < bs; r++) {
        Row(node, r, y);
        for (PetscInt s = 0; s < bs; s++) d[r][s] = Scalar(0);
        if (Magnitude(y[r]) > 0) d[r][r] = Inverse(y[r]);
      }
    const PetscInt first = i[node * bs], length = i[node * bs + 1] - first;
    for (PetscInt q = 0; q < length; q++) {
      const PetscInt c = j[first + q] - own * in.vectors;
      for (PetscInt r = 0; r < bs; r++) y[r] = p[first + r * length + q];
      for (PetscInt r = 0; r < bs; r++) {
        Scalar sum(0);
        for (PetscInt s = 0; s < bs; s++) sum += d[r][s] * y[s];
        sum = Scalar(-in.damping) * sum;
        if (c >= 0 && c < in.vectors) sum += in.P0[static_cast<PetscCount>(node * bs + r) * in.vectors + c];
        p[first + r * length + q] = sum;
      }
    }
  }
};

} // namespace sparsegpu::aggregate
