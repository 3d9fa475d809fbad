/// Rows for columns: the permutation that makes the product of the diagonal's magnitudes, each rounded by a factor of
/// at most 2^(1/8), largest, and the scaling by powers of two that goes with it, after which the diagonal has
/// magnitudes from 2^(-9/8) to 2^(9/8) and nothing is larger than that. Duff & Koster, "On algorithms for permuting
/// large entries to the diagonal of a sparse matrix", SIAM J. Matrix Anal. Appl. 22(4), 2001.
#pragma once

#include <vector>
#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"

namespace sparsegpu::lu
{

struct Matching {
  std::vector<PetscInt>  row;            ///< [n] row that becomes row j, whose entry in column j lies on the diagonal
  std::vector<PetscReal> row_scale;      ///< [n] of the matrix's rows; powers of two, so that scaling rounds nothing
  std::vector<PetscReal> column_scale;   ///< [n]
  PetscInt               unmatched = -1; ///< a column that no row is left for: the matrix is structurally singular
};

/// Of the square matrix A with values on the host; entries that are 0 or not finite count as missing. Worst case
/// O(n nonzeros log n), in practice near linear.
PetscErrorCode MaximumProduct(const CsrView &A, Matching *matching);

/// How many rows have no diagonal entry, or a 0.
PetscInt LackingPivots(const CsrView &A);
/// Is there a diagonal entry that is missing, 0, or smaller than `weak` times the largest of its row and of its column?
bool WeakDiagonal(const CsrView &A, PetscReal weak);

} // namespace sparsegpu::lu
