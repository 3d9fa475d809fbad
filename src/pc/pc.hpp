/// Registration of preconditioners, factors and orderings with PETSc.
#pragma once

#include <petscsys.h>

namespace sparsegpu::pc
{

/// MATSOLVERSPARSEGPU, MATORDERINGABMC, MATORDERINGLEASTFILL and PCSPARSEGPU; what stands in front of PCPBJACOBI and
/// PCVPBJACOBI.
PetscErrorCode RegisterPreconditioners();

} // namespace sparsegpu::pc
