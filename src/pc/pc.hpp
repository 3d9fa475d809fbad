/// Registration of preconditioners, factors and orderings with PETSc.
#pragma once

#include <petscsys.h>

namespace sparsegpu::pc
{

/// MATSOLVERSPARSEGPU, MATORDERINGABMC, MATORDERINGLEASTFILL, PCSPARSEGPU and PCSPARSEGPUAMG; what stands in front of
/// PCPBJACOBI and PCVPBJACOBI.
PetscErrorCode RegisterPreconditioners();

} // namespace sparsegpu::pc
