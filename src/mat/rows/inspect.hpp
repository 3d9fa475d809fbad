/// What a look at a pattern tells, on the host or, where its arrays lie there, on the device.
#pragma once

#include <optional>
#include <vector>
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows
{

/// What the lengths of all rows tell.
struct RowLengths {
  unsigned long long squares = 0; ///< their sum
  unsigned long long filled  = 0; ///< rows that are not empty
  PetscInt           longest = 0;
};
/// O(rows) time; waits for the device where the rows are there.
PetscErrorCode InspectRows(const CsrView &A, RowLengths *lengths);

/// What choosing a format needs, from one pass over the pattern.
struct PatternFacts {
  static constexpr PetscInt MANY_DIAGONALS = 4096; ///< far above what DIA can use

  PetscInt  rows = 0, cols = 0, nonzeros = 0, longest = 0;
  PetscInt  diagonals = 0;           ///< distinct j - i; more than MANY_DIAGONALS are not told apart
  PetscReal mean = 0, deviation = 0; ///< of the row lengths, in entries
};
/// *offsets: those of FindDiagonals(), where they were found on the way; else as before. `lengths`: of A's rows.
PetscErrorCode InspectPattern(const CsrView &A, const RowLengths &lengths, PatternFacts *facts,
                              std::optional<std::vector<PetscInt>> *offsets);

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
    if (low == high || A.j[low] != r || !SameBits(A.a[low], A.a[e])) return false;
  }
  return true;
}

/// The same from A.device; wait for the device.
PetscErrorCode InspectRows_CUDA(const CsrView &A, RowLengths *lengths);
/// None where they are more than `most`; *count is then more than that, too.
PetscErrorCode FindDiagonals_CUDA(const CsrView &A, PetscInt most, std::vector<PetscInt> *offsets, PetscInt *count);

} // namespace sparsegpu::rows
