/// The pattern of a transpose.
#pragma once

#include <vector>
#include "device/buffer.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows
{

/// A counting sort by column, so rows stay in order: i [A.cols + 1], j [A.nonzeros], and of each entry the one of A
/// that it is, source [A.nonzeros].
PetscErrorCode TransposePattern(const CsrView &A, std::vector<PetscInt> *i, std::vector<PetscInt> *j,
                                std::vector<PetscInt> *source);
/// The same on the device from A.device, which needs no values; the same arrays. Asynchronous. Errors: PETSC_ERR_MEM.
PetscErrorCode TransposePattern_CUDA(const CsrView &A, Array<PetscInt> *i, Array<PetscInt> *j, Array<PetscInt> *source);

} // namespace sparsegpu::rows
