/// A block of a parallel matrix out of whole rows: a function object of a row for ForEach().
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::classical
{

/// to [from begin[r] on] = the values of row r in columns first .. end - 1, or in all others, in their order.
struct TakePart {
  const PetscInt   *i, *j;
  const Scalar     *a;
  PetscInt          first, end;
  bool              inside;
  const PetscInt   *begin;
  Scalar           *to;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    PetscInt at = begin[r];
    for (PetscInt e = i[r]; e < i[r + 1]; e++)
      if ((j[e] >= first && j[e] < end) == inside) to[at++] = a[e];
  }
};

} // namespace sparsegpu::classical
