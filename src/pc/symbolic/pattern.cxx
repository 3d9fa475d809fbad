/// Both triangles are gathered row by row; a marker per column drops duplicates and the diagonal.
#include "pc/symbolic/pattern.hpp"
#include <utility>
#include "petsc/compat.hpp"

namespace sparsegpu::symbolic
{

namespace
{
void Symmetrize(const CsrView &A, const std::vector<PetscInt> &row_place, const std::vector<PetscInt> &column_place,
                SymmetricPattern *pattern)
{
  const PetscInt          n = A.rows;
  std::vector<PetscCount> at(n + 1, 0);
  std::vector<PetscInt>   both, seen(n, -1);
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      ++at[row_place[r]];
      ++at[column_place[A.j[e]]];
    }
  PetscCount sum = 0;
  for (PetscCount &count : at) {
    const PetscCount mine = count;
    count                 = sum;
    sum += mine;
  }
  both.resize(sum);
  std::vector<PetscCount> begin = at;
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt i = row_place[r], j = column_place[A.j[e]];
      both[at[i]++] = j;
      both[at[j]++] = i;
    }
  PetscCount kept = 0; // duplicates leave, and the rest moves up
  pattern->n      = n;
  pattern->i.resize(static_cast<size_t>(n) + 1);
  pattern->i[0] = 0;
  for (PetscInt k = 0; k < n; k++) {
    for (PetscCount e = begin[k]; e < begin[k + 1]; e++) {
      const PetscInt other = both[e];
      if (other == k || seen[other] == k) continue;
      seen[other]  = k;
      both[kept++] = other;
    }
    pattern->i[k + 1] = kept;
  }
  both.resize(kept);
  both.shrink_to_fit();
  pattern->j = std::move(both);
}
} // namespace

PetscErrorCode SymmetricPatternOf(const CsrView &A, const std::vector<PetscInt> &row_place,
                                  const std::vector<PetscInt> &column_place, SymmetricPattern *pattern)
{
  PetscFunctionBegin;
  PetscCallCXX(Symmetrize(A, row_place, column_place, pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::symbolic
