/// Direct factors as PETSc sees them.
#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// RegisterFactor() of LU and Cholesky.
PetscErrorCode RegisterDirectFactors();
/// Did the last solve with the direct factor F reach its bound?
PetscErrorCode DirectSolved(Mat F, bool *solved);

} // namespace sparsegpu
