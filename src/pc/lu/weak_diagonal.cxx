/// What the diagonal is worth as pivots, without a matching.
#include <algorithm>
#include "pc/lu/matching.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

PetscInt LackingPivots(const CsrView &A)
{
  PetscInt lacking = 0;

  for (PetscInt r = 0; r < A.rows; r++) {
    bool there = false;
    for (PetscInt e = A.i[r]; e < A.i[r + 1] && !there; e++) there = A.j[e] == r && Magnitude(A.a[e]) > 0;
    lacking += !there;
  }
  return lacking;
}

bool WeakDiagonal(const CsrView &A, PetscReal weak)
{
  std::vector<PetscReal> diagonal(A.rows, 0), column;
  std::vector<PetscInt>  suspect; // rows whose diagonal is weak if their column has an entry as large

  for (PetscInt r = 0; r < A.rows; r++) {
    PetscReal row = 0;
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscReal magnitude = Magnitude(A.a[e]);
      row                       = std::max(row, magnitude);
      if (A.j[e] == r) diagonal[r] = magnitude;
    }
    if (!(diagonal[r] > 0)) return true;
    if (diagonal[r] < weak * row) suspect.push_back(r);
  }
  if (suspect.empty()) return false;
  column.assign(A.cols, 0);
  for (PetscInt e = 0; e < A.nonzeros; e++) column[A.j[e]] = std::max(column[A.j[e]], Magnitude(A.a[e]));
  return std::any_of(suspect.begin(), suspect.end(), [&](PetscInt r) { return diagonal[r] < weak * column[r]; });
}

} // namespace sparsegpu::lu
