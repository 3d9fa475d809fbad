/// Direct factors as PETSc sees them.
#pragma once

#include <petscmat.h>
#include "pc/lu/direct.hpp"

namespace sparsegpu::lu
{

/// RegisterFactor() of LU and Cholesky.
PetscErrorCode RegisterDirectFactors();
/// F's symbolic factorization, after which it has all other operations of this kind: as MatFactorSymbolic_Direct().
PetscErrorCode BeginDirect(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind);
/// Whether the last solve with the direct factor F met its error bound.
PetscErrorCode DirectSolved(Mat F, bool *solved);

} // namespace sparsegpu::lu
