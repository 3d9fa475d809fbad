/// Rows of one process out of both blocks, and columns of a prolongator: function objects for ForEach(), beside those
/// of rows::values.
#pragma once

#include "pc/amg/filter_rows.hpp"

namespace sparsegpu::amg
{

/// strong [entries of the joined rows] = 1 of those that stay, else 0.
struct MarkStaying {
  Couplings         couplings;
  unsigned char    *strong;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const OwnRows &rows = couplings.rows;
    const PetscInt r    = static_cast<PetscInt>(k);
    PetscInt       at   = rows.own.i[r] + rows.others.i[r];

    for (PetscInt e = rows.own.i[r]; e < rows.own.i[r + 1]; e++) strong[at++] = couplings.Own(r, e);
    for (PetscInt e = rows.others.i[r]; e < rows.others.i[r + 1]; e++) strong[at++] = couplings.Other(r, e);
  }
};

/// to[k] = the number in the whole matrix, where those of this process begin at `first`, of the aggregate of the
/// unknown asked[k]; -1: none.
struct TakeAggregatesAsked {
  PetscInt          size, first;
  const PetscInt   *asked, *of; ///< of [nodes]
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt aggregate = of[asked[k] / size];
    to[k]                    = aggregate < 0 ? -1 : first + aggregate;
  }
};

/// to[k] = entry k of the rows asked[], of `width` entries each.
struct TakeRowsAsked {
  PetscInt          width;
  const PetscInt   *asked;
  const Scalar     *from;
  Scalar           *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    to[k] = from[static_cast<PetscCount>(asked[k / width]) * width + k % width];
  }
};

/// to[k] = from[k] + shift, but -1 where that is from[k].
struct ShiftNumbers {
  PetscInt          shift;
  const PetscInt   *from;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const { to[k] = from[k] < 0 ? -1 : from[k] + shift; }
};

/// Columns of aggregates become those of their numbers in the whole matrix.
struct NumberColumns {
  const PetscInt   *number; ///< [aggregates]
  PetscInt          vectors;
  PetscInt         *j;
  SPARSEGPU_HD void operator()(PetscCount e) const { j[e] = number[j[e] / vectors] * vectors + j[e] % vectors; }
};

#define SPARSEGPU_FOR_JOINED_OPERATIONS(DO) \
  DO(MarkStaying);                          \
  DO(TakeAggregatesAsked);                  \
  DO(TakeRowsAsked);                        \
  DO(ShiftNumbers);                         \
  DO(NumberColumns)

} // namespace sparsegpu::amg
