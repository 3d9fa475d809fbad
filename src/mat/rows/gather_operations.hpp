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

/// Ranges of `from` one behind the other: that of entries offset[r] .. offset[r + 1] - 1 begins at begin[r].
struct GatherRanges {
  PetscInt          ranges;
  const PetscInt   *offset, *begin, *from;
  PetscInt         *to;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    PetscInt r = 0, end = ranges;
    while (end - r > 1) {
      const PetscInt middle = r + (end - r) / 2;
      if (offset[middle] <= k)
        r = middle;
      else
        end = middle;
    }
    to[k] = from[begin[r] + (k - offset[r])];
  }
};

} // namespace sparsegpu::rows::values
