/// What device.cu asks of memory.cu. The allocations are declared in device.hpp.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Device memory from a pool of ours: an allocation takes microseconds and no release waits for the device. What is
/// free beyond an eighth of the device's memory goes back to the driver at the next synchronisation.
PetscErrorCode CreatePool(int device);
/// Destroys the pool, whose memory in use lives on, and unpins what nobody uses.
PetscErrorCode MemoryFinalize();

} // namespace sparsegpu
