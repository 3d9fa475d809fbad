/// The options of a direct factorization.
#pragma once

#include "pc/lu/direct.hpp"

namespace sparsegpu::lu
{

/// Those of F, or of A where F has no prefix. All are checked before any takes effect; errors name the values allowed.
PetscErrorCode ReadOptions(Mat F, Mat A);

} // namespace sparsegpu::lu
