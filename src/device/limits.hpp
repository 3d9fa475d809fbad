/// What the device offers: asked for, never assumed. Options for tests take some of that away, so that a large device
/// runs what small and busy ones do: -sparsegpu_device_shared_memory BYTES, of a thread block;
/// -sparsegpu_device_cooperative yes, no or refused (by the launch, as where another process has multiprocessors);
/// -sparsegpu_device_largest_array BYTES, of which more are not to be had at a time; -sparsegpu_device_stuck, as a
/// direct solve on a broken GPU would be.
#pragma once

#include "device/device.hpp"

namespace sparsegpu
{

/// Bytes of shared memory that a launch of `kernel` may ask for, beside what the kernel itself declares.
PetscErrorCode SharedMemoryFor(const void *kernel, size_t *bytes);
/// Thread blocks of `kernel` that the device runs at a time, each with `shared` bytes; lets the kernel have them. 0 if
/// it cannot run.
PetscErrorCode ResidentBlocks(const void *kernel, int threads, size_t shared, PetscInt *blocks);
/// The same where the blocks wait for each other; 0 where the device has no cooperative launches.
PetscErrorCode CooperativeBlocks(const void *kernel, int threads, size_t shared, PetscInt *blocks);
/// Launches blocks that wait for each other. *launched is false, and nothing is done, where the device does not have
/// the room for all of them that it was found to have: others may be using it.
PetscErrorCode LaunchCooperative(const void *kernel, PetscInt blocks, int threads, void **arguments, size_t shared,
                                 Stream stream, bool *launched);
/// Bytes that one array may have.
PetscErrorCode LargestArray(size_t *bytes);
/// Whether each direct solve is to end as a stuck one, for tests.
PetscErrorCode PretendsStuck(bool *stuck);
/// At PetscFinalize().
void ForgetLimits();

} // namespace sparsegpu
