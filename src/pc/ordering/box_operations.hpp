/// What finding a grid and its boxes does to each sampled row and each row.
#pragma once

#include "pc/ordering/boxes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

/// Of each sample k: how many distances |column - node| to other nodes a row has, and up to `most` of them, in
/// sample[k * (most + 1)] and what follows; one that is the same as its predecessor is not repeated.
struct SampleDistances {
  PetscInt          nodes, unknowns, samples, most;
  const PetscInt   *i, *j;
  PetscInt         *sample;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    // rows at irregular places, so that not all of them lie on the boundary
    const PetscInt  node  = static_cast<PetscInt>((static_cast<PetscInt64>(nodes) * k / samples + 61 * k) % nodes);
    const PetscInt  r     = node * unknowns;
    PetscInt *const to    = sample + k * (most + 1) + 1;
    PetscInt        found = 0, last = 0;
    for (PetscInt e = i[r]; e < i[r + 1] && found <= most; e++) {
      const PetscInt other = j[e] / unknowns, distance = other < node ? node - other : other - node;
      if (distance == last || distance == 0) continue;
      if (found < most) to[found] = distance;
      found++;
      last = distance;
    }
    to[-1] = found;
  }
};

/// Of each row: its box.
struct PlaceRows {
  Boxes             boxes;
  BoxPlace         *place;
  SPARSEGPU_HD void operator()(PetscCount r) const { place[r] = boxes.Of(static_cast<PetscInt>(r)); }
};

/// Of each row: *far = 1 where an entry leads neither to its own box nor to one of the 26 round it; *diagonal = 1 where
/// one leads to another box an even number of steps away.
struct CheckBoxes {
  const PetscInt   *i, *j;
  const BoxPlace   *place;
  int              *far, *diagonal;
  SPARSEGPU_HD void operator()(PetscCount r) const
  {
    const BoxPlace own = place[r];
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      const BoxPlace other = place[j[e]];
      int            steps = 0;
      if (other == own) continue;
      for (int d = 0; d < DIMENSIONS; d++) {
        const PetscInt step = Boxes::At(other, d) - Boxes::At(own, d);
        if (step < -1 || step > 1) {
          *far = 1;
          return;
        }
        steps += step != 0;
      }
      if (steps % 2 == 0) *diagonal = 1;
    }
  }
};

/// Of each row: colour << bits | box. Two colours alternate from box to box, `alternate`, or in each direction.
struct KeyOfBox {
  Boxes               boxes;
  bool                alternate;
  int                 bits;
  const BoxPlace     *place;
  unsigned long long *key;
  SPARSEGPU_HD void   operator()(PetscCount r) const
  {
    unsigned long long box = 0, colour = 0, before = 1;
    int                shift = 0;
    for (int d = 0; d < DIMENSIONS; d++) {
      const unsigned long long at = static_cast<unsigned long long>(Boxes::At(place[r], d));
      box += at * before;
      before *= static_cast<unsigned long long>(boxes.count[d]);
      if (alternate)
        colour ^= at & 1;
      else if (boxes.count[d] > 1)
        colour |= (at & 1) << shift++;
    }
    key[r] = colour << bits | box;
  }
};

} // namespace sparsegpu::ordering
