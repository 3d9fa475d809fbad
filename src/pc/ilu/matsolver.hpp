/// Incomplete factors as PETSc sees them.
#pragma once

#include <petscmat.h>

namespace sparsegpu::ilu
{

/// RegisterFactor() of ILU and ICC.
PetscErrorCode RegisterIncompleteFactors();

} // namespace sparsegpu::ilu
