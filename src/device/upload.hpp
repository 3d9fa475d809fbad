/// Large copies from pageable host memory.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// Is a copy of so many bytes worth it?
bool UploadPays(size_t bytes);
/// Copies through pinned buffers that a few threads fill, which is several times as fast as the driver's own way
/// through one. Ordered on the stream; returns when the host side is done with.
PetscErrorCode Upload(void *device, const void *host, size_t bytes, Stream stream);
/// Frees the buffers, at PetscFinalize().
PetscErrorCode UploadFinalize();

} // namespace sparsegpu
