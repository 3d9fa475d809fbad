/// What device.cu needs of stream.cu.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// Makes the stream of DeviceStream() where PETSc has none. The device has been selected.
PetscErrorCode StreamCreate();
/// Forgets all streams, at PetscFinalize().
PetscErrorCode StreamFinalize();

} // namespace sparsegpu
