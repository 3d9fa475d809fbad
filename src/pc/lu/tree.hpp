/// The assembly tree of a sparse factorization: which unknowns are eliminated together, and what each such front needs.
/// Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11(1), 1990; Gilbert, Ng &
/// Peyton, "An efficient algorithm to compute row and column counts for sparse Cholesky factorization", the same,
/// 15(4), 1994; relaxed amalgamation: Ashcraft & Grimes, ACM Trans. Math. Softw. 15(4), 1989.
#pragma once

#include <petscsys.h>
#include <vector>

namespace sparsegpu
{

/// A square symmetric pattern without its diagonal, both triangles; neighbours in any order.
struct SymmetricPattern {
  PetscInt                n = 0;
  std::vector<PetscCount> i; ///< [n + 1]
  std::vector<PetscInt>   j; ///< [i[n]]
};

/// Fronts in postorder. Front f eliminates the unknowns first[f] .. first[f + 1] - 1 of the new order, its pivots; its
/// other rows are row[row_begin[f]] .. row[row_begin[f + 1] - 1], ascending, and the same are its other columns.
struct FrontTree {
  std::vector<PetscInt>   order;     ///< [n] the unknown, as numbered in the pattern, that is eliminated k-th
  std::vector<PetscInt>   first;     ///< [fronts + 1]
  std::vector<PetscInt>   parent;    ///< [fronts] -1: none
  std::vector<PetscCount> row_begin; ///< [fronts + 1]
  std::vector<PetscInt>   row;       ///< in the new order
  std::vector<PetscInt>   relative;  ///< for each of them, where the parent's front has it: pivots first, then rows
  PetscCount              zeros = 0; ///< entries of one triangle that amalgamation stores for nothing

  PetscInt Fronts() const { return static_cast<PetscInt>(parent.size()); }
  PetscInt Pivots(PetscInt f) const { return first[f + 1] - first[f]; }
  PetscInt Others(PetscInt f) const { return static_cast<PetscInt>(row_begin[f + 1] - row_begin[f]); }
};

/// The fronts of a factorization in the order of the pattern, or one that differs from it without changing the fill.
/// O(pattern + rows of the fronts), on the host.
PetscErrorCode BuildFrontTree(const SymmetricPattern &pattern, FrontTree *tree);

/// Operations of an LU factorization in the order of the pattern. Near O(pattern).
PetscErrorCode CountFlops(const SymmetricPattern &pattern, PetscLogDouble *flops);

} // namespace sparsegpu
