/// The elimination tree of a symmetric pattern and the sizes of the factor's columns. Liu, "The role of elimination
/// trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11(1), 1990; Gilbert, Ng & Peyton, "An efficient
/// algorithm to compute row and column counts for sparse Cholesky factorization", the same, 15(4), 1994.
#pragma once

#include "pc/symbolic/pattern.hpp"

namespace sparsegpu::symbolic
{

using Indices = std::vector<PetscInt>;

/// The elimination tree of the pattern, numbered in a postorder of it, and the counts of its columns.
struct EliminationTree {
  Indices post;   ///< [n] the pattern's unknown
  Indices parent; ///< [n] the first unknown after k that the elimination of k reaches, -1: none
  Indices count;  ///< [n] entries of each column of the factor, the diagonal included
};
/// Near O(pattern). Throws std::bad_alloc.
EliminationTree FindEliminationTree(const SymmetricPattern &pattern);

/// The nodes of a forest, children (in the order of `visit`) before their parents and subtrees together.
Indices Postorder(const Indices &parent, const Indices &visit);
Indices Inverted(const Indices &order);
/// The pattern with unknown order[k] as its k-th.
SymmetricPattern Permuted(const SymmetricPattern &A, const Indices &order);

/// Operations of an LU factorization that each node takes [A.n], where node k stands for weight[k] unknowns that are
/// eliminated one after the other, and node order[k] comes k-th. *height, unless null, [A.n]: the unknowns of the
/// longest chain that ends with the node's, each of which waits for the one before it. Near O(pattern). Throws
/// std::bad_alloc.
std::vector<PetscLogDouble> NodeFlops(const SymmetricPattern &A, const Indices &weight, const Indices &order,
                                      Indices *height = nullptr);

} // namespace sparsegpu::symbolic
