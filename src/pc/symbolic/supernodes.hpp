/// Supernodes of an elimination tree: unknowns whose columns of the factor have nearly the same rows, to be eliminated
/// together. Relaxed amalgamation: Ashcraft & Grimes, ACM Trans. Math. Softw. 15(4), 1989.
#pragma once

#include "pc/symbolic/elimination.hpp"

namespace sparsegpu::symbolic
{

/// Unknowns that are eliminated together, as a tree. Node s holds `pivots` unknowns; its front has `rows` rows.
struct Supernodes {
  Indices                 of;     ///< [n] node of each unknown
  Indices                 parent; ///< -1: none
  Indices                 pivots, rows;
  std::vector<PetscCount> zeros; ///< of its lower triangle
};

/// Chains of unknowns whose columns differ by one entry each. The `size` unknowns from `apart` on, a path up to a root,
/// are a node of their own, as if they were neighbours of each other; -1: none are.
Supernodes FundamentalSupernodes(const Indices &parent, const Indices &count, PetscInt apart, PetscInt size);
/// Merges children into their parents where that stores few zeros: fewer, larger fronts. Nothing is merged into node
/// `apart`, a root; -1: none.
void Amalgamate(Supernodes *nodes, PetscInt apart);
/// Nodes of at least ALIGNED_ROWS rows get a multiple of ALIGNED pivots where they have enough of their own to give the
/// last ones to their parents; where there is no parent, some of a smaller node come up. A device multiplies dense
/// matrices a third faster whose columns begin at multiples of 32 bytes, four numbers in double precision. Of node
/// `apart` nothing changes; -1: there is none. Supernodes::zeros are not kept.
constexpr PetscInt ALIGNED = 4, ALIGNED_ROWS = 1024;
void               AlignPivots(Supernodes *nodes, PetscInt apart);
/// Nodes in the order that needs the least memory for what children leave to their parents (Liu, ACM Trans. Math.
/// Softw. 12(3), 1986): a child before those that need less beyond what they leave.
Indices VisitingOrder(const Supernodes &nodes);

} // namespace sparsegpu::symbolic
