/// The pattern of a product of sparse matrices by hash tables, on the device.
#pragma once

#include "mat/products/multiply.hpp"

namespace sparsegpu::products
{

/// C's i, j and terms. *done is false, and C undefined, where A has no entries, or a row of C more columns than a table
/// takes, some thousand. Waits for the device. Errors: those of MultiplyPattern().
PetscErrorCode MultiplyPatternHashed_CUDA(const SparseRows &A, const SparseRows &B, Pattern *C, bool *done);

} // namespace sparsegpu::products
