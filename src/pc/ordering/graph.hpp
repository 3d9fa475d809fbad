/// Graphs made ready for orderings: equal nodes as one, nodes of nearly full rows and components apart.
#pragma once

#include "pc/ordering/libraries.hpp"

namespace sparsegpu::ordering
{

/// Nodes of a graph with the same neighbours, themselves included, become one: no elimination tells them apart.
/// Ashcraft, "Compressed graphs and the minimum degree algorithm", SIAM J. Sci. Comput. 16(6), 1995.
struct CompressedGraph {
  WeightedGraph graph;
  Indices       begin; ///< [graph.pattern.n + 1]
  Indices member; ///< [unknowns] those of compressed node c: member[begin[c]] .. member[begin[c + 1] - 1], ascending
};
/// Whether `most` nodes are enough; else *compressed is left alone. Near O(pattern). Throws std::bad_alloc, as all here
/// do.
bool CompressTo(const SymmetricPattern &A, PetscInt most, CompressedGraph *compressed);

/// Pairs of unknowns that are to follow each other become one node: partner [A.n]: the other one; itself: none.
CompressedGraph PairedGraph(const SymmetricPattern &A, const Indices &partner);

/// The graph of some nodes of another.
struct Part {
  WeightedGraph graph;
  Indices       node; ///< [graph.pattern.n] as numbered in the other, ascending
};
/// `part` [G.pattern.n]: the part that each node belongs to, 0 .. parts - 1, or -1: none. O(nodes + edges).
std::vector<Part> Split(const WeightedGraph &G, const Indices &part, PetscInt parts);

/// Nodes with more than 16 and more than 10 sqrt(n) neighbours, as AMD has it, by their number of neighbours: they come
/// last in any good order, and hide from the others what structure there is.
Indices DenseNodes(const WeightedGraph &G);

/// *component [A.n]: of each node, numbered by their smallest nodes. Returns how many there are.
PetscInt FindComponents(const SymmetricPattern &A, Indices *component);

/// The same graph with a node for each unknown: node k becomes weight[k] nodes, those of node 0 first.
SymmetricPattern Expanded(const WeightedGraph &G);

} // namespace sparsegpu::ordering
