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

/// The same from A.device; wait for the device. Sums of lengths and of their squares are exact.
struct RowLengths {
  unsigned long long squares;
  PetscInt           longest;
};
PetscErrorCode InspectRows_CUDA(const CsrView &A, RowLengths *lengths);
/// None where they are more than `most`; *count is then more than that, too.
PetscErrorCode FindDiagonals_CUDA(const CsrView &A, PetscInt most, std::vector<PetscInt> *offsets, PetscInt *count);

} // namespace sparsegpu::rows
