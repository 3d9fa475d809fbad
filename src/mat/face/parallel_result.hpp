/// The matrix that a product of parallel matrices becomes.
#pragma once

#include "mat/face/parallel_product.hpp"

namespace sparsegpu::face
{

/// The layouts of M, of no type yet or of ours, become those of the product of `operands`, and its type ours. To be
/// called before its block sizes and settings are set.
PetscErrorCode SetResultType(Mat M, Step step, const StepOperands &operands);
/// M gets this pattern, which lies in `space`, with values zero; as long as a PatternsStayAway lives there alone, where
/// that may be. Collective. Errors: PETSC_ERR_MEM.
PetscErrorCode SetResultPattern(Mat M, BlockPatterns &&patterns, Space space);
/// Memory for the values of M's blocks, so that it lacks before any rank has begun to send. Errors: PETSC_ERR_MEM. Not
/// collective.
PetscErrorCode ReserveResult(Mat M, Space space);
/// The values of M are those that `product` has computed, where they are to be. Not collective.
PetscErrorCode TakeResult(Mat M, const ParallelProduct &product);

} // namespace sparsegpu::face
