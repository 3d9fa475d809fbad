/// Row lengths and diagonals of a pattern: one pass on the host, or the device's findings.
#include "mat/rows/inspect.hpp"
#include <algorithm>
#include <cmath>
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

PetscErrorCode InspectRows(const CsrView &A, RowLengths *lengths)
{
  PetscFunctionBegin;
  *lengths = RowLengths();
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(InspectRows_CUDA(A, lengths));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscInt length = A.i[r + 1] - A.i[r];
    lengths->squares += static_cast<unsigned long long>(length) * static_cast<unsigned long long>(length);
    lengths->longest = std::max(lengths->longest, length);
    lengths->filled += length > 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InspectPattern(const CsrView &A, const RowLengths &lengths, PatternFacts *facts,
                              std::optional<std::vector<PetscInt>> *offsets)
{
  constexpr PetscInt MANY = PatternFacts::MANY_DIAGONALS;
  std::vector<char>  used;

  PetscFunctionBegin;
  *facts            = PatternFacts();
  facts->rows       = A.rows;
  facts->cols       = A.cols;
  facts->nonzeros   = A.nonzeros;
  facts->longest    = lengths.longest;
  facts->mean       = A.rows ? static_cast<PetscReal>(A.nonzeros) / A.rows : 0;
  const auto square = A.rows ? static_cast<PetscReal>(lengths.squares) / A.rows : 0;
  facts->deviation  = std::sqrt(std::max<PetscReal>(0, square - facts->mean * facts->mean));
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    std::vector<PetscInt> found;
    facts->diagonals = lengths.longest; // a row alone has so many
    if (facts->diagonals <= MANY) {
      PetscCall(FindDiagonals_CUDA(A, MANY, &found, &facts->diagonals));
      if (facts->diagonals <= MANY) *offsets = std::move(found);
    }
    facts->diagonals = std::min(facts->diagonals, MANY + 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallCXX(used.assign(static_cast<size_t>(A.rows) + A.cols, 0));
  for (PetscInt r = 0; r < A.rows && facts->diagonals <= MANY; r++) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      char &seen = used[static_cast<size_t>(A.j[e]) + (A.rows - r)];
      facts->diagonals += !seen;
      seen = 1;
    }
  }
  facts->diagonals = std::min(facts->diagonals, MANY + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindDiagonals(const CsrView &A, std::vector<PetscInt> *offsets)
{
  std::vector<char> used;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscInt count;
    PetscCall(FindDiagonals_CUDA(A, PETSC_MAX_INT, offsets, &count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallCXX(used.assign(static_cast<size_t>(A.rows) + A.cols, 0));
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) used[static_cast<size_t>(A.j[e]) + (A.rows - r)] = 1;
  offsets->clear();
  for (size_t d = 0; d < used.size(); d++)
    if (used[d]) PetscCallCXX(offsets->push_back(static_cast<PetscInt>(d) - A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LooksSymmetric(const CsrView &A, bool *symmetric)
{
  const CsrArrays host{A.i, A.j, A.a};

  PetscFunctionBegin;
  *symmetric = A.rows == A.cols && (A.a || A.device.a);
  if (!*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.a && A.device.i) {
    PetscCall(LooksSymmetric_CUDA(A, symmetric));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  *symmetric = A.a != nullptr;
  for (PetscInt k = 0; *symmetric && k < std::min(A.rows, SAMPLED_ROWS); k++)
    *symmetric = MirrorsRow(host, SampledRow(k, A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
