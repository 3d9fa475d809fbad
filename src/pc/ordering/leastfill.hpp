#pragma once

#include <petscsys.h>

namespace sparsegpu
{

/// MatOrderingRegister() of MATORDERINGLEASTFILL.
PetscErrorCode RegisterLeastFill();

} // namespace sparsegpu
