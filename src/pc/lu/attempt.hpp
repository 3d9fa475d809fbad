/// Attempts at the numeric phase of a direct factorization with several thresholds of small pivots, then with partial
/// pivoting.
#pragma once

#include "pc/lu/direct.hpp"

namespace sparsegpu::lu
{

/// Growth that partial pivoting rarely exceeds.
constexpr PetscReal GROWTH = static_cast<PetscReal>(1e4);

/// The quality of solves with the factors.
enum class Quality {
  Bad,    ///< the matrix is singular to rounding, or the factors are too inaccurate
  Usable, ///< solutions with correct digits, which refinement does not bring to the bound for all right-hand sides
  Slow,   ///< refinement reaches the bound, with many steps
  Good
};
/// Factors the values a [nonzeros], in the factor's space, with the thresholds in turn until the quality is Good, and
/// leaves the best factors. alternative: rows can be matched instead. brief: with the first threshold only, and Good or
/// not is all that is asked.
PetscErrorCode Attempt(Mat F, const Scalar *a, bool alternative, bool brief, Quality *quality);
/// Factors A, with values on the host, there with partial pivoting, with the thresholds in turn until the quality is
/// Good. Bad factors stay in use, too: Unpivot(). `why`: for the view.
PetscErrorCode AttemptPivoted(Mat F, const CsrView &A, const char why[], Quality *quality);
/// Factors the values that were factored in single precision once more, in full precision; `why` for the view. Needs
/// refinement, which has kept them.
PetscErrorCode FactorInFull(Mat F, const char why[], Quality *quality);
/// After a solve that did not meet its bound: *better if factors in full precision instead of single, or with
/// partial pivoting, are good, for this and later solves.
PetscErrorCode Escalate(Mat F, bool *better);

} // namespace sparsegpu::lu
