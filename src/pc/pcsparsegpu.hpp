#pragma once

#include <petscsys.h>

namespace sparsegpu
{

/// PCRegister() of PCSPARSEGPU.
PetscErrorCode RegisterPreconditioner();

} // namespace sparsegpu
