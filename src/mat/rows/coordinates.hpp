/// Assembly from coordinates on the device, for MatSetValuesCOO() with device arrays.
#pragma once

#include <petscmat.h>
#include <memory>
#include "device/buffer.hpp"
#include "mat/rows/rows.hpp"

namespace sparsegpu
{

/// Which given entries make up each nonzero; duplicates of a matrix share it.
struct CooMap {
  Array<PetscCount> jmap, perm; ///< [nonzeros + 1], [entries kept]: see SumCoordinates_CUDA()
};

/// What a matrix knows of the coordinates that it was preallocated with.
struct Coordinates {
  std::shared_ptr<CooMap> map;             ///< null: none
  PatternKey              pattern;         ///< of the rows that it maps to
  bool                    fresh   = false; ///< MatSetValuesCOO() has not been called since the preallocation
  PetscCount              entries = -1;    ///< given to MatSetPreallocationCOO()
};

} // namespace sparsegpu
