/// What block multi-colouring does to each row, entry or block: function objects of an index that both backends run in
/// any order. Integers alone decide, and no result depends on that order: all backends agree.
#pragma once

#include "device/device.hpp"
#include "pc/ordering/box_operations.hpp"
#include "pc/ordering/node_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

constexpr int COLOURS = 64; ///< beyond them neighbours share the last: more levels, but an ordering all the same

/// A block whose neighbours of a higher priority all have colours, -1: none as yet, takes the first that none of them
/// has: the greedy colouring in the order of priorities, Jones & Plassmann, SIAM J. Sci. Comput. 14(3), 1993, whenever
/// a thread sees what another one wrote. Blocks with more neighbours come first: Welsh & Powell, Comput. J. 10(1),
/// 1967. *uncoloured = round where one is left, used[c] = 1 for the colours of blocks.
struct ColourBlocks {
  const PetscInt   *i, *j;
  unsigned          round; ///< from 1 on
  int              *colour, *used;
  unsigned         *uncoloured;
  SPARSEGPU_HD bool Before(PetscInt a, PetscInt b) const
  {
    const PetscInt more = (i[a + 1] - i[a]) - (i[b + 1] - i[b]);
    return more > 0 || (more == 0 && Priority(a, 0) < Priority(b, 0));
  }
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const PetscInt     b     = static_cast<PetscInt>(k);
    unsigned long long taken = 0;
    int                c     = 0;
    if (colour[b] >= 0) return;
    for (PetscInt e = i[b]; e < i[b + 1]; e++) {
      const int other = colour[j[e]];
      if (other >= 0) { // of a higher priority: the others wait for this one
        taken |= 1ull << other;
      } else if (Before(j[e], b)) {
        *uncoloured = round;
        return;
      }
    }
    while (c < COLOURS - 1 && (taken >> c & 1)) c++;
    colour[b] = c;
    used[c]   = 1;
  }
};

/// Of each row: colour << bits | block.
struct KeyOfBlock {
  const PetscInt     *of;
  const int          *colour;
  int                 bits;
  unsigned long long *key;
  SPARSEGPU_HD void   operator()(PetscCount r) const
  {
    key[r] = static_cast<unsigned long long>(colour[of[r]]) << bits | static_cast<unsigned long long>(of[r]);
  }
};

/// Runs `operation` of 0 .. count - 1 on arrays that lie in `space`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_ORDERING_OPERATIONS(what) \
  what(SampleDistances);                        \
  what(PlaceRows);                              \
  what(CheckBoxes);                             \
  what(KeyOfBox);                               \
  what(BeginRoots);                             \
  what(DecideRoots);                            \
  what(WantRoot);                               \
  what(TakeIn);                                 \
  what(FlagLeft);                               \
  what(TakeSizes);                              \
  what(NumberLeft);                             \
  what(RenumberRows);                           \
  what(NumberRows);                             \
  what(CountPairs);                             \
  what(ListPairs);                              \
  what(ColourBlocks);                           \
  what(KeyOfBlock)

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);

} // namespace sparsegpu::ordering
