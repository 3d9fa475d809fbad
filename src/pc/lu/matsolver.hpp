/// Direct factors as PETSc sees them.
#pragma once

#include <petscmat.h>

namespace sparsegpu::lu
{

/// RegisterFactor() of LU and Cholesky.
PetscErrorCode RegisterDirectFactors();
/// Whether the last solve with the direct factor F met its error bound.
PetscErrorCode DirectSolved(Mat F, bool *solved);

} // namespace sparsegpu::lu
