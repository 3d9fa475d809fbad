/// The GPU as the rest of the code sees it: is there one, its stream, its memory. Compiled twice over: device.cu with
/// the CUDA toolkit, nodevice.cxx without. No CUDA call is made before the first DeviceFound() that needs one.
#pragma once

#include <cstddef>
#include "petsc/compat.hpp"

namespace sparsegpu
{

enum class Space {
  Host,
  Device
};

/// A cudaStream_t, where there is CUDA.
using Stream = void *;

/// Whether this process can use a GPU. The first call selects it: PETSc's, or, where PETSc has no CUDA,
/// -sparsegpu_device N, by default the rank within the node modulo the visible devices. *why is the reason if not
/// (static).
PetscErrorCode DeviceFound(PetscBool *found, const char **why = nullptr);
/// The stream that all work goes to: PETSc's current one, or our own where PETSc has no CUDA.
/// One that differs from the last call's is made to wait for all that has been given to that: our work is one chain.
PetscErrorCode DeviceStream(Stream *stream);
/// The same for work that PETSc gives to its current stream, on memory that our kernels use, too. Nothing where
/// DeviceStream() has not been called.
PetscErrorCode DeviceOrder();
/// PETSc's vector operations (VecCopy(), VecSet(), VecAXPY(), VecPointwiseMult() ...) run on the default stream,
/// whatever context is current, and a non-blocking stream neither waits for that one nor is waited for. The first makes
/// our stream wait for the vector operations so far, the second makes later ones wait for our work so far. Nothing
/// where PETSc's current stream is the default one.
PetscErrorCode DeviceAfterVectors();
PetscErrorCode DeviceBeforeVectors();
PetscErrorCode DeviceSynchronize(Stream stream);
/// Its name, multiprocessors and bytes of L2 cache; only where DeviceFound().
PetscErrorCode DeviceFacts(const char **name, PetscInt *multiprocessors, size_t *l2);
/// PETSC_ERR_MEM, naming the bytes asked for and free, if there is not enough.
PetscErrorCode DeviceAllocate(size_t bytes, void **p);
/// After all work of ours so far, whatever stream it is on.
PetscErrorCode DeviceFree(void *p);
/// Calls of DeviceAllocate() for memory so far, for those who promise to make none.
PetscCount DeviceAllocations();
/// Bytes that DeviceAllocate() could have: free ones, and unused ones of our pool. Synchronises.
PetscErrorCode DeviceMemoryLeft(double *bytes);
/// Host memory that the device may write; null where there is no device.
PetscErrorCode DeviceAllocatePinned(size_t bytes, void **p);
PetscErrorCode DeviceFreePinned(void *p);
/// Copies are ordered on `stream`; a copy to or from pageable host memory returns when the host side is done with.
PetscErrorCode DeviceCopyIn(void *device, const void *host, size_t bytes, Stream stream);
PetscErrorCode DeviceCopyOut(void *host, const void *device, size_t bytes, Stream stream);
/// Both on the device.
PetscErrorCode DeviceCopyWithin(void *to, const void *from, size_t bytes, Stream stream);
/// Whether p points to device memory. False for pointers that CUDA does not know.
PetscErrorCode DevicePointer(const void *p, PetscBool *device);
/// Forgets the device and frees the stream, at PetscFinalize().
PetscErrorCode DeviceFinalize();

} // namespace sparsegpu
