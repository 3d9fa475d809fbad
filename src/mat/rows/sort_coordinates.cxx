/// Coordinates sorted on the host, and the limits of both ways.
#include "mat/rows/sort_coordinates.hpp"
#include <algorithm>
#include <limits>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

int BitsUpTo(PetscInt most)
{
  int bits = 0;
  while (bits < 63 && static_cast<unsigned long long>(most) >> bits) bits++;
  return bits;
}

bool CanSortCoordinates(PetscInt rows, PetscInt cols, PetscCount count)
{
  return count < std::numeric_limits<PetscInt>::max() && BitsUpTo(rows) + BitsUpTo(cols) <= 64;
}

PetscErrorCode CheckLargest(PetscInt rows, PetscInt cols, PetscInt row, PetscInt col)
{
  PetscFunctionBegin;
  PetscCheck(row < rows, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "COO row index %" PetscInt_FMT " is >= the matrix row size %" PetscInt_FMT, row, rows);
  PetscCheck(col < cols, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "COO column index %" PetscInt_FMT " is >= the matrix column size %" PetscInt_FMT, col, cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SortCoordinates_Host(PetscInt rows, PetscInt cols, PetscCount count, const PetscInt *i,
                                           const PetscInt *j, SortedCoordinates *sorted)
{
  std::vector<PetscInt> begin, columns, perm, jmap;
  PetscInt              row = -1, col = -1;

  PetscFunctionBegin;
  for (PetscCount k = 0; k < count; k++) {
    if (i[k] < 0 || j[k] < 0) continue;
    row = std::max(row, i[k]);
    col = std::max(col, j[k]);
    PetscCallCXX(perm.push_back(static_cast<PetscInt>(k)));
  }
  PetscCall(CheckLargest(rows, cols, row, col));
  PetscCallCXX(std::stable_sort(perm.begin(), perm.end(),
                                [&](PetscInt a, PetscInt b) { return i[a] != i[b] ? i[a] < i[b] : j[a] < j[b]; }));
  PetscCallCXX(begin.assign(static_cast<size_t>(rows) + 1, 0));
  for (size_t k = 0; k < perm.size(); k++) {
    const PetscInt now = perm[k], before = k ? perm[k - 1] : -1;
    if (k && i[now] == i[before] && j[now] == j[before]) continue;
    PetscCallCXX(columns.push_back(j[now]));
    PetscCallCXX(jmap.push_back(static_cast<PetscInt>(k)));
    begin[static_cast<size_t>(i[now]) + 1]++;
  }
  for (size_t r = 0; r < static_cast<size_t>(rows); r++) begin[r + 1] += begin[r];
  if (jmap.size() == perm.size())
    jmap.clear();
  else
    PetscCallCXX(jmap.push_back(static_cast<PetscInt>(perm.size())));
  PetscCall(sorted->i.Take(std::move(begin), Space::Host));
  PetscCall(sorted->j.Take(std::move(columns), Space::Host));
  PetscCall(sorted->jmap.Take(std::move(jmap), Space::Host));
  PetscCall(sorted->perm.Take(std::move(perm), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortCoordinates(PetscInt rows, PetscInt cols, PetscCount count, const PetscInt *i, const PetscInt *j,
                               Space space, SortedCoordinates *sorted)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space, SortCoordinates_CUDA(rows, cols, count, i, j, sorted),
                             SortCoordinates_Host(rows, cols, count, i, j, sorted)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
