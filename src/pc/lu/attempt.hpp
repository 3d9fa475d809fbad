/// Attempts at the numeric phase of a direct factorization with several thresholds of small pivots.
#pragma once

#include "pc/lu/direct.hpp"

namespace sparsegpu::lu
{

/// The quality of solves with the factors.
enum class Quality {
  Bad,    ///< the matrix is singular to rounding, or the factors are too inaccurate
  Usable, ///< solutions with correct digits, which refinement does not bring to the bound for all right-hand sides
  Slow,   ///< refinement reaches the bound, with many steps
  Good
};
/// Factors the values a [nonzeros], in the factor's space, with the thresholds in turn until the quality is Good, and
/// leaves the best factors. alternative: rows can be matched instead.
PetscErrorCode Attempt(Mat F, const Scalar *a, bool alternative, Quality *quality);

} // namespace sparsegpu::lu
