/// Large copies between the device and pageable host memory, through pinned buffers that a few threads fill or empty
/// while the device copies: several times as fast as the driver's own way through one buffer of one thread.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// Bytes of a chunk, which one thread copies at a time through a buffer of that size: a huge page of the host.
constexpr size_t STAGED_CHUNK = 2 << 20;
/// To pin the buffers takes as long as they save on so many bytes: 8 ms on the host of an H100, most of what a small
/// matrix takes to its first product.
constexpr size_t STAGED_FROM = 64 << 20;

/// Is a copy between the device and the array at `host` to go this way? Not below two chunks, nor where CUDA knows the
/// memory, which is pinned or managed then, nor before this has been asked for STAGED_FROM bytes that could.
PetscErrorCode StagingPays(const void *host, size_t bytes, bool *pays);
/// Copies with at most `threads` threads, this one included; fewer where no more are to be had. Ordered on the stream,
/// returns when the host's array is done with. *done is false, and nothing is copied, where the buffers are in use by
/// another thread of the program or no pinned memory is to be had.
PetscErrorCode StagedCopyIn(void *device, const void *host, size_t bytes, int threads, Stream stream, bool *done);
PetscErrorCode StagedCopyOut(void *host, const void *device, size_t bytes, int threads, Stream stream, bool *done);
/// Frees the buffers, at PetscFinalize().
PetscErrorCode StagingFinalize();

} // namespace sparsegpu
