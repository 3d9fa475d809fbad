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
/// The children of the nodes of a forest, in one piece.
class Children
{
public:
  /// parent: -1 of a root. Throws std::bad_alloc.
  explicit Children(const Indices &parent);
  /// Ascending.
  struct Range {
    const PetscInt *first, *last;

    const PetscInt *begin() const { return first; }
    const PetscInt *end() const { return last; }
  };
  Range Of(PetscInt node) const { return Range{child_.data() + begin_[node], child_.data() + begin_[node + 1]}; }

private:
  Indices begin_, child_;
};
/// The pattern with unknown order[k] as its k-th.
SymmetricPattern Permuted(const SymmetricPattern &A, const Indices &order);

/// Operations of an LU factorization that each node takes [A.n], where node k stands for weight[k] unknowns that are
/// eliminated one after the other, and node order[k] comes k-th. *height, unless null, [A.n]: the unknowns of the
/// longest chain that ends with the node's, each of which waits for the one before it. Near O(pattern). Throws
/// std::bad_alloc.
std::vector<PetscLogDouble> NodeFlops(const SymmetricPattern &A, const Indices &weight, const Indices &order,
                                      Indices *height = nullptr);

} // namespace sparsegpu::symbolic
