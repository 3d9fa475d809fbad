#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// Makes the new matrix F one of MATSOLVERSPARSEGPU's LU and Cholesky factors.
PetscErrorCode FillDirectFactor(Mat F);
/// Did the last solve with such a factor reach its bound?
PetscErrorCode DirectSolved(Mat F, bool *solved);

} // namespace sparsegpu
