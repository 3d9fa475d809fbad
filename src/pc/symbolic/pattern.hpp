/// The symmetric pattern that a direct factorization with pivots on the diagonal works with: that of A + A^T, in the
/// order of elimination.
#pragma once

#include <vector>
#include "mat/rows/csr_view.hpp"
#include "pc/symbolic/names.hpp"

namespace sparsegpu::symbolic
{

/// A square symmetric pattern without its diagonal, both triangles; neighbours in any order.
struct SymmetricPattern {
  PetscInt                n = 0;
  std::vector<PetscCount> i; ///< [n + 1]
  std::vector<PetscInt>   j; ///< [i[n]]
};

/// The pattern of P A Q + (P A Q)^T, where row i of A is eliminated row_place[i]-th and column j column_place[j]-th.
PetscErrorCode SymmetricPatternOf(const CsrView &A, const std::vector<PetscInt> &row_place,
                                  const std::vector<PetscInt> &column_place, SymmetricPattern *pattern);

/// What two unknowns are coupled with becomes what either is, and they with each other. partner [A.n]: the other one of
/// each; itself: it stays as it is. O(result).
PetscErrorCode JoinPairs(const std::vector<PetscInt> &partner, SymmetricPattern *A);

} // namespace sparsegpu::symbolic
