/// What puts values together that lie in several arrays: function objects of an index for values::ForEach()
/// (value_operations.hpp).
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::rows::values
{

/// a[e] = entry place[e] of `first` [split] and `second` behind it.
struct GatherPair {
  const PetscInt   *place;
  PetscInt          split;
  const Scalar     *first, *second;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount e) const
  {
    const PetscInt k = place[e];
    a[e]             = k < split ? first[k] : second[k - split];
  }
};

/// to[k] = from[place[k]].
struct GatherIndices {
  const PetscInt   *place, *from;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const { to[k] = from[place[k]]; }
};

/// a[at[k]] += the sum of v[place[q]], begin[k] <= q < begin[k + 1], in that order; at[] has no entry twice.
struct AddMore {
  const PetscInt   *at, *begin, *place;
  const Scalar     *v;
  Scalar           *a;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    Scalar sum = a[at[k]];
    for (PetscInt q = begin[k]; q < begin[k + 1]; q++) sum += v[place[q]];
    a[at[k]] = sum;
  }
};

} // namespace sparsegpu::rows::values
