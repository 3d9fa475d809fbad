/// Pairs of unknowns for pivots of order 2, from a matching: Duff & Pralet, "Strategies for scaling and pivoting for
/// sparse symmetric indefinite problems", SIAM J. Matrix Anal. Appl. 27(2), 2005.
#pragma once

#include "pc/lu/matching.hpp"

namespace sparsegpu::lu
{

struct Pairing {
  std::vector<PetscInt>  partner; ///< [n] the other unknown of its pair; itself: it is in none
  std::vector<PetscReal> scale;   ///< [n] of rows and columns: no entry is larger than about 1; powers of two
};

/// Of a symmetric or Hermitian A and a matching of it: the cycles of the permutation are cut into pairs, and the scales
/// of rows and columns become their geometric mean. An odd cycle leaves out the unknown with the largest diagonal.
PetscErrorCode PairUnknowns(const CsrView &A, const Matching &matching, Pairing *pairing);

/// The same order with each unknown's partner right behind it.
PetscErrorCode BringTogether(const std::vector<PetscInt> &partner, std::vector<PetscInt> *order);

} // namespace sparsegpu::lu
