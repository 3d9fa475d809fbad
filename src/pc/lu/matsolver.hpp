#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// Makes the new matrix F one of MATSOLVERSPARSEGPU's LU and Cholesky factors.
PetscErrorCode FillDirectFactor(Mat F);
/// The ordering that such a factorization is best with among those that this PETSc has.
const char *PreferredOrdering();

} // namespace sparsegpu
