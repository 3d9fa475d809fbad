/// The pattern of a transpose on the host.
#pragma once

#include <vector>
#include "mat/rows/csr_view.hpp"

namespace sparsegpu
{

/// A counting sort by column, so rows stay in order: i [A.cols + 1], j [A.nonzeros], and of each entry the one of A
/// that it is, source [A.nonzeros].
PetscErrorCode TransposePattern(const CsrView &A, std::vector<PetscInt> *i, std::vector<PetscInt> *j,
                                std::vector<PetscInt> *source);

} // namespace sparsegpu
