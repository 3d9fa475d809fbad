/// Rows of a symmetric structure are taken as they are; of others both triangles are gathered row by row, and a marker
/// per column drops duplicates and the diagonal.
#include "pc/symbolic/pattern.hpp"
#include <utility>
#include "petsc/compat.hpp"

namespace sparsegpu::symbolic
{

namespace
{
/// Whether (r, c) is an entry wherever (c, r) is, of rows whose columns ascend; false also where they do not.
bool HasSymmetricStructure(const CsrView &A)
{
  const PetscInt        n = A.rows;
  std::vector<PetscInt> at(A.i, A.i + n); // the first entry of each row below the diagonal that has not been met
  for (PetscInt r = 0; r < n; r++) {
    PetscInt e = at[r];
    if (e < A.i[r + 1] && A.j[e] < r) return false; // without one above
    for (PetscInt f = A.i[r] + 1; f < A.i[r + 1]; f++)
      if (A.j[f - 1] >= A.j[f]) return false;
    for (; e < A.i[r + 1]; e++) {
      const PetscInt c = A.j[e];
      if (c == r) continue;
      if (at[c] == A.i[c + 1] || A.j[at[c]] != r) return false;
      ++at[c];
    }
  }
  return true;
}

/// The same as Symmetrize() gives, neighbours in the same order.
void TakeRows(const CsrView &A, const std::vector<PetscInt> &place, SymmetricPattern *pattern)
{
  const PetscInt        n = A.rows;
  std::vector<PetscInt> row(n);
  for (PetscInt r = 0; r < n; r++) row[place[r]] = r;
  pattern->n = n;
  pattern->i.resize(static_cast<size_t>(n) + 1);
  pattern->i[0] = 0;
  pattern->j.resize(A.nonzeros);
  PetscCount kept = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt r = row[k];
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++)
      if (A.j[e] != r) pattern->j[kept++] = place[A.j[e]];
    pattern->i[k + 1] = kept;
  }
  pattern->j.resize(kept);
}

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
  bool symmetric = false;
  if (row_place == column_place) PetscCallCXX(symmetric = HasSymmetricStructure(A));
  if (symmetric)
    PetscCallCXX(TakeRows(A, row_place, pattern));
  else
    PetscCallCXX(Symmetrize(A, row_place, column_place, pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JoinPairs(const std::vector<PetscInt> &partner, SymmetricPattern *A)
{
  std::vector<PetscInt> seen;
  SymmetricPattern      joined;

  PetscFunctionBegin;
  joined.n = A->n;
  PetscCallCXX(seen.assign(A->n, -1));
  PetscCallCXX(joined.i.assign(1, 0));
  PetscCallCXX(joined.i.reserve(A->i.size()));
  PetscCallCXX(joined.j.reserve(A->j.size()));
  for (PetscInt k = 0; k < A->n; k++) {
    const auto take = [&](PetscInt other) {
      if (other == k || seen[other] == k) return;
      seen[other] = k;
      joined.j.push_back(other);
    };
    const auto take_both = [&](PetscInt other) {
      take(other);
      take(partner[other]);
    };
    PetscCallCXX(take(partner[k]));
    for (const PetscInt member : {k, partner[k]})
      for (PetscCount e = A->i[member]; e < A->i[member + 1]; e++) PetscCallCXX(take_both(A->j[e]));
    joined.i.push_back(static_cast<PetscCount>(joined.j.size()));
  }
  *A = std::move(joined);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::symbolic
