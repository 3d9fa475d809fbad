/// The assembly tree of a sparse factorization: which unknowns are eliminated together, and what each such front needs.
/// Duff & Reid, "The multifrontal solution of indefinite sparse symmetric linear equations", ACM Trans. Math. Softw.
/// 9(3), 1983.
#pragma once

#include "pc/symbolic/pattern.hpp"

namespace sparsegpu::symbolic
{

/// Fronts in postorder. Front f eliminates the unknowns first[f] .. first[f + 1] - 1 of the new order, its pivots; its
/// other rows are row[row_begin[f]] .. row[row_begin[f + 1] - 1], ascending, and the same are its other columns.
struct FrontTree {
  std::vector<PetscInt>   order;      ///< [n] the unknown, as numbered in the pattern, that is eliminated k-th
  std::vector<PetscInt>   first;      ///< [fronts + 1]
  std::vector<PetscInt>   parent;     ///< [fronts] -1: none
  std::vector<PetscCount> row_begin;  ///< [fronts + 1]
  std::vector<PetscInt>   row;        ///< in the new order
  std::vector<PetscInt>   relative;   ///< for each of them, where the parent's front has it: pivots first, then rows
  PetscCount              zeros = 0;  ///< explicit zeros of one triangle, stored because of amalgamation
  PetscInt                apart = -1; ///< a root whose pivots are the last unknowns of the pattern's order

  PetscInt Fronts() const { return static_cast<PetscInt>(parent.size()); }
  PetscInt Pivots(PetscInt f) const { return first[f + 1] - first[f]; }
  PetscInt Others(PetscInt f) const { return static_cast<PetscInt>(row_begin[f + 1] - row_begin[f]); }
};

/// The fronts of a factorization in the order of the pattern, or one that differs from it without changing the fill.
/// The last `apart` unknowns, each a neighbour of the next, become the pivots of one front, tree->apart, in their
/// order. `partner`, unless empty, is JoinPairs()'s, of pairs that follow each other in the order: they are pivots of
/// one front, the first and those after it, so that tiles of an even number of pivots part none. O(pattern + rows of
/// the fronts), on the host.
PetscErrorCode BuildFrontTree(const SymmetricPattern &pattern, PetscInt apart, const std::vector<PetscInt> &partner,
                              FrontTree *tree);

} // namespace sparsegpu::symbolic
