/// The preconditioner PCSPARSEGPU, and what solvers may take from it.
#pragma once

#include <petscpc.h>

namespace sparsegpu::ilu
{
class Factor;
}

namespace sparsegpu::pc
{

/// PCRegister() of PCSPARSEGPU.
PetscErrorCode RegisterPreconditioner();

/// The incomplete factor of ours that the preconditioner is, once it is set up and if it lies on the device: of
/// PCSPARSEGPU, PCILU and PCICC. Else null.
PetscErrorCode DeviceFactorOf(PC pc, ilu::Factor **factor);

} // namespace sparsegpu::pc
