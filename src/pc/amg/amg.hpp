/// The preconditioner PCSPARSEGPUAMG: PCMG with levels of smoothed aggregation.
#pragma once

#include <petscpc.h>

namespace sparsegpu::amg
{

/// PCRegister() of PCSPARSEGPUAMG, and the events of its set-up.
PetscErrorCode RegisterMultigrid();

} // namespace sparsegpu::amg
