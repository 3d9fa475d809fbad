/// The preconditioner PCSPARSEGPU, and what solvers may take from it.
#pragma once

#include <petscpc.h>

namespace sparsegpu
{

/// PCRegister() of PCSPARSEGPU.
PetscErrorCode RegisterPreconditioner();

class Factor;
/// The incomplete factor of ours that the preconditioner is, once it is set up and if it lies on the device: of
/// PCSPARSEGPU, PCILU and PCICC. Else null.
PetscErrorCode DeviceFactorOf(PC pc, Factor **factor);

} // namespace sparsegpu
