/// States of nodes in searches for independent ones: ROOT, OUT or, as yet undecided, a priority between the two.
#pragma once

#include "device/scalar.hpp"
#include "pc/ordering/names.hpp"

namespace sparsegpu::ordering
{

using State          = unsigned;
constexpr State ROOT = 0;
constexpr State OUT  = 0xffffffffu;
/// Nodes that State can number.
constexpr PetscCount MOST_NODES = 0xfffffff0;

/// The priority of a node in a round: no two nodes have the same, none is ROOT or OUT. The finalizer of MurmurHash3
/// (Appleby, public domain) and the product with an odd number map 32 bits one to one, and 0 to 0.
SPARSEGPU_HD State Scramble(State h)
{
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}
SPARSEGPU_HD State Priority(PetscInt node, unsigned round)
{
  const State odd = 2 * Scramble(round + 1) + 1, h = Scramble((static_cast<State>(node) + 1) * odd);
  return h == OUT ? Scramble(OUT * odd) : h; // which is no node's
}

} // namespace sparsegpu::ordering
