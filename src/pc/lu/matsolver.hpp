#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// Makes the new matrix F one of MATSOLVERSPARSEGPU's LU and Cholesky factors.
PetscErrorCode FillDirectFactor(Mat F);

} // namespace sparsegpu
