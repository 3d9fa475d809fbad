/// Rows of one process out of both blocks, and columns of a prolongator: function objects for ForEach(), beside those
/// of rows::values.
#pragma once

#include "device/scalar.hpp"
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

/// to[k] = of the node of the unknown asked[k].
struct TakeNodesAsked {
  PetscInt          size;
  const PetscInt   *asked;
  const PetscReal  *of; ///< [nodes]
  PetscReal        *to;
  SPARSEGPU_HD void operator()(PetscCount k) const { to[k] = of[asked[k] / size]; }
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
  DO(TakeNodesAsked);                       \
  DO(TakeAggregatesAsked);                  \
  DO(TakeRowsAsked);                        \
  DO(ShiftNumbers);                         \
  DO(NumberColumns)

} // namespace sparsegpu::amg
