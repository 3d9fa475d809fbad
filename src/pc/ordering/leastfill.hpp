/// An ordering for direct factorizations: the one of PETSc's that takes the fewest operations.
#pragma once

#include <petscsys.h>

namespace sparsegpu::ordering
{

/// MatOrderingRegister() of MATORDERINGLEASTFILL.
PetscErrorCode RegisterLeastFill();

} // namespace sparsegpu::ordering
