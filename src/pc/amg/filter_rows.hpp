/// Weak couplings of the rows of one process, which lie in two blocks: function objects of a row for ForEach().
#pragma once

#include "mat/products/multiply.hpp"
#include "pc/aggregate/strength.hpp"
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

/// Rows of a process.
struct OwnRows {
  PetscInt        rows, first, size; ///< first: in the whole matrix; size: unknowns of a node
  CsrArrays       own, others;       ///< columns of this process, from 0; columns of `ghost`
  const PetscInt *ghost;             ///< [columns of others] their numbers in the whole matrix, ascending
  bool            unordered;         ///< columns of a row of a block need not ascend

  SPARSEGPU_HD PetscInt NodeOf(PetscInt unknown) const { return size == 1 ? unknown : unknown / size; }
};

/// The columns of one block as numbers that NodeOf() knows.
struct OwnColumns {
  SPARSEGPU_HD PetscInt operator()(PetscInt j) const { return j; }
};
struct GhostColumns {
  const PetscInt       *ghost;
  SPARSEGPU_HD PetscInt operator()(PetscInt j) const { return ghost[j]; }
};

/// The largest magnitude among the entries that rows of `row`'s node have in columns of the node `other`.
template <class Columns> SPARSEGPU_HD PetscReal LargestOf(const OwnRows &rows, const CsrArrays &block, Columns number,
                                                          PetscInt row, PetscInt other)
{
  const PetscInt begin = row - row % rows.size;
  PetscReal      most  = 0;

  for (PetscInt r = begin; r < begin + rows.size; r++) {
    PetscInt at = block.i[r], end = block.i[r + 1];
    for (PetscInt last = rows.unordered ? at : end; at < last;) { // to the first column of the node
      const PetscInt middle = at + (last - at) / 2;
      if (rows.NodeOf(number(block.j[middle])) < other)
        at = middle + 1;
      else
        last = middle;
    }
    for (; at < end; at++) {
      const bool here = rows.NodeOf(number(block.j[at])) == other;
      if (!here && !rows.unordered) break;
      if (!here) continue;
      const PetscReal size = aggregate::Size(block.a[at]);
      most                 = size > most ? size : most;
    }
  }
  return most;
}

/// count[r] = entries of row r that follow one in a later column.
struct CountUnordered {
  OwnRows           rows;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscInt found = 0;
    for (const CsrArrays *block : {&rows.own, &rows.others})
      for (PetscInt e = block->i[k] + 1; e < block->i[k + 1]; e++) found += block->j[e - 1] > block->j[e];
    count[k] = found;
  }
};

/// size[r] = the largest magnitude in the diagonal block of r's node.
struct FindNodeSizes {
  OwnRows           rows;
  PetscReal        *size;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt r = static_cast<PetscInt>(k);
    size[k]          = LargestOf(rows, rows.own, OwnColumns(), r, rows.NodeOf(r));
  }
};

/// Which entries stay.
struct Couplings {
  OwnRows          rows;
  PetscReal        threshold;
  const PetscReal *size, *ghost_size; ///< [rows], [ghosts] of the diagonal blocks of nodes

  SPARSEGPU_HD bool Strong(PetscReal largest, PetscReal one, PetscReal other) const
  {
    return largest > threshold * (static_cast<PetscReal>(sqrt(one)) * static_cast<PetscReal>(sqrt(other)));
  }
  /// Entry e of row r in the block of own columns.
  SPARSEGPU_HD bool Own(PetscInt r, PetscInt e) const
  {
    const PetscInt j = rows.own.j[e], other = rows.NodeOf(j);
    if (other == rows.NodeOf(r)) return true;
    const PetscReal largest =
        rows.size == 1 ? aggregate::Size(rows.own.a[e]) : LargestOf(rows, rows.own, OwnColumns(), r, other);
    return Strong(largest, size[r], size[j]);
  }
  SPARSEGPU_HD bool Other(PetscInt r, PetscInt e) const
  {
    const PetscInt  j = rows.others.j[e];
    const PetscReal largest =
        rows.size == 1 ? aggregate::Size(rows.others.a[e])
                       : LargestOf(rows, rows.others, GhostColumns{rows.ghost}, r, rows.NodeOf(rows.ghost[j]));
    return Strong(largest, size[r], ghost_size[j]);
  }
};

/// count[r] = entries that stay.
struct CountStaying {
  Couplings         couplings;
  PetscInt         *count;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const OwnRows &rows = couplings.rows;
    const PetscInt r    = static_cast<PetscInt>(k);
    PetscInt       stay = 0;

    for (PetscInt e = rows.own.i[r]; e < rows.own.i[r + 1]; e++) stay += couplings.Own(r, e);
    for (PetscInt e = rows.others.i[r]; e < rows.others.i[r + 1]; e++) stay += couplings.Other(r, e);
    count[k] = stay;
  }
};

/// The entries that stay, from begin[r] on, ascending in the whole matrix where they do in each block; the others are
/// added to the diagonal block.
struct TakeStaying {
  Couplings       couplings;
  const PetscInt *begin;
  PetscInt       *j;
  Scalar         *a;

  /// What leaves row r from columns that have the place `place` in their node.
  SPARSEGPU_HD Scalar Leaving(PetscInt r, PetscInt place) const
  {
    const OwnRows &rows = couplings.rows;
    Scalar         sum(0);

    for (PetscInt e = rows.own.i[r]; e < rows.own.i[r + 1]; e++)
      if (rows.own.j[e] % rows.size == place && !couplings.Own(r, e)) sum += rows.own.a[e];
    for (PetscInt e = rows.others.i[r]; e < rows.others.i[r + 1]; e++)
      if (rows.ghost[rows.others.j[e]] % rows.size == place && !couplings.Other(r, e)) sum += rows.others.a[e];
    return sum;
  }
  /// Whether what leaves row r is added, as prolongators of one process have it.
  SPARSEGPU_HD bool Adds(PetscInt r) const
  {
    const CsrArrays &own = couplings.rows.own;
    Scalar           diagonal(0);

    for (PetscInt e = own.i[r]; e < own.i[r + 1]; e++)
      if (own.j[e] == r) diagonal = own.a[e];
    const Scalar whole = diagonal + Leaving(r, r % couplings.rows.size);
    return aggregate::Size(whole) > aggregate::Size(diagonal) / 4;
  }
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const OwnRows &rows = couplings.rows;
    const PetscInt r    = static_cast<PetscInt>(k);
    PetscInt       at = begin[r], e = rows.others.i[r];
    const PetscInt end  = rows.others.i[r + 1];
    const bool     adds = Adds(r);

    const auto others = [&](bool before) {
      for (; e < end && (!before || rows.ghost[rows.others.j[e]] < rows.first); e++) {
        if (!couplings.Other(r, e)) continue;
        j[at]   = rows.ghost[rows.others.j[e]];
        a[at++] = rows.others.a[e];
      }
    };
    others(true);
    for (PetscInt o = rows.own.i[r]; o < rows.own.i[r + 1]; o++) {
      if (!couplings.Own(r, o)) continue;
      j[at] = rows.first + rows.own.j[o];
      a[at] = rows.own.a[o];
      if (adds && rows.NodeOf(rows.own.j[o]) == rows.NodeOf(r)) a[at] += Leaving(r, rows.own.j[o] % rows.size);
      at++;
    }
    others(false);
  }
};

#define SPARSEGPU_FOR_FILTER_OPERATIONS(DO) \
  DO(CountUnordered);                       \
  DO(FindNodeSizes);                        \
  DO(CountStaying);                         \
  DO(TakeStaying)

} // namespace sparsegpu::amg
