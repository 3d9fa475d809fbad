/// What PETSc is told of preconditioners, factors and orderings.
#pragma once

#include <petscsys.h>

namespace sparsegpu
{

/// MATSOLVERSPARSEGPU, MATORDERINGABMC, MATORDERINGLEASTFILL and PCSPARSEGPU.
PetscErrorCode RegisterPreconditioners();

} // namespace sparsegpu
