/// Registration of preconditioners, factors and orderings with PETSc.
#pragma once

#include <petscsys.h>

namespace sparsegpu::pc
{

/// MATSOLVERSPARSEGPU, MATORDERINGABMC, MATORDERINGLEASTFILL and PCSPARSEGPU.
PetscErrorCode RegisterPreconditioners();

} // namespace sparsegpu::pc
