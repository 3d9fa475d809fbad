/// Assembly from coordinates whose sums are made where the matrix lives.
#pragma once

#include <petscmat.h>
#include <cstdint>
#include <memory>
#include "device/buffer.hpp"
#include "mat/rows/rows.hpp"

namespace sparsegpu::rows
{

/// Which given entries make up each nonzero; duplicates of a matrix share it.
struct CooMap {
  Array<PetscInt> jmap, perm;      ///< [nonzeros + 1] or empty, [entries kept]: see SortedCoordinates
  Space           space;           ///< where they lie; the host in tests and for plain AIJ matrices
  PetscInt        nonzeros    = 0; ///< that it maps to
  PetscCount      entries     = 0; ///< given to MatSetPreallocationCOO()
  std::uint64_t   fingerprint = 0; ///< of the pattern that it maps to
};

/// What a matrix knows of the coordinates that it was preallocated with.
struct Coordinates {
  std::shared_ptr<CooMap> map;             ///< null: PETSc has them, if any
  PatternKey              pattern;         ///< a key that is known to be of the map's pattern
  bool                    fresh   = false; ///< that key's nonzero state is about to move for the last time
  PetscCount              entries = -1;    ///< given to MatSetPreallocationCOO()
};

} // namespace sparsegpu::rows
