/// Boxes of nodes that a regular grid is cut into: as near to cubes as fit, all alike but for the last in a direction.
#pragma once

#include "device/scalar.hpp"
#include "pc/ordering/grid.hpp"

namespace sparsegpu::ordering
{

/// The place of a box among all, 21 bits a direction, x lowest.
using BoxPlace = unsigned long long;

struct Boxes {
  static constexpr int      BITS = 21;
  static constexpr PetscInt MOST = PetscInt(1) << BITS; ///< boxes in a direction

  PetscInt sides[DIMENSIONS]; ///< of the grid, in nodes
  PetscInt size[DIMENSIONS];  ///< of a box, in nodes
  PetscInt count[DIMENSIONS]; ///< boxes
  PetscInt unknowns;          ///< rows of a node

  static SPARSEGPU_HD PetscInt At(BoxPlace place, int d)
  {
    return static_cast<PetscInt>(place >> d * BITS & (MOST - 1));
  }
  SPARSEGPU_HD BoxPlace Of(PetscInt row) const
  {
    PetscInt node  = row / unknowns;
    BoxPlace place = 0;
    for (int d = 0; d < DIMENSIONS; d++) {
      place |= static_cast<BoxPlace>(node % sides[d] / size[d]) << d * BITS;
      node /= sides[d];
    }
    return place;
  }
};

} // namespace sparsegpu::ordering
