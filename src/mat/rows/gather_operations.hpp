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

} // namespace sparsegpu::rows::values
