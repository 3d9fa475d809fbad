/// What a look at a pattern tells, on the host or, where its arrays lie there, on the device.
#pragma once

#include <optional>
#include <vector>
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows
{

/// What choosing a format needs, from one pass over the pattern.
struct PatternFacts {
  static constexpr PetscInt MANY_DIAGONALS = 4096; ///< far above what DIA can use

  PetscInt  rows, cols, nonzeros, longest;
  PetscInt  diagonals;       ///< distinct j - i; more than MANY_DIAGONALS are not told apart
  PetscReal mean, deviation; ///< of the row lengths, in entries
};
/// *offsets: those of FindDiagonals(), where they were found on the way; else as before.
PetscErrorCode InspectPattern(const CsrView &A, PatternFacts *facts, std::optional<std::vector<PetscInt>> *offsets);

/// The offsets j - i of all diagonals with an entry, ascending. O(nonzeros + rows + cols) time.
PetscErrorCode FindDiagonals(const CsrView &A, std::vector<PetscInt> *offsets);

/// Whether a sample of the rows of a square matrix says that it is symmetric, bit for bit: each entry (r, j) of such a
/// row r has the bits of entry (j, r). Where columns do not ascend, it may say no. O(1) rows are looked at, of A.device
/// if it has values.
PetscErrorCode LooksSymmetric(const CsrView &A, bool *symmetric);
PetscErrorCode LooksSymmetric_CUDA(const CsrView &A, bool *symmetric);
/// Row number k of such a sample.
constexpr PetscInt    SAMPLED_ROWS = 4096; ///< at most
SPARSEGPU_HD PetscInt SampledRow(PetscInt k, PetscInt rows)
{
  return rows <= SAMPLED_ROWS ? k : static_cast<PetscInt>(static_cast<PetscCount>(k) * rows / SAMPLED_ROWS);
}
SPARSEGPU_HD bool MirrorsRow(const CsrArrays &A, PetscInt r)
{
  for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
    PetscInt low = A.i[A.j[e]], high = A.i[A.j[e] + 1]; // (j, r) is in [low, high), if it is there
    while (high - low > 1) {
      const PetscInt middle = low + (high - low) / 2;
      if (A.j[middle] <= r)
        low = middle;
      else
        high = middle;
    }
    if (low == high || A.j[low] != r || BitsOf(RealPart(A.a[low])) != BitsOf(RealPart(A.a[e]))) return false;
#if defined(PETSC_USE_COMPLEX)
    if (BitsOf(A.a[low].im) != BitsOf(A.a[e].im)) return false;
#endif
  }
  return true;
}

/// The same from A.device; wait for the device. Sums of lengths and of their squares are exact.
struct RowLengths {
  unsigned long long squares;
  PetscInt           longest;
};
PetscErrorCode InspectRows_CUDA(const CsrView &A, RowLengths *lengths);
/// None where they are more than `most`; *count is then more than that, too.
PetscErrorCode FindDiagonals_CUDA(const CsrView &A, PetscInt most, std::vector<PetscInt> *offsets, PetscInt *count);

} // namespace sparsegpu::rows
