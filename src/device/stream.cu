/// The stream of all our work is PETSc's current one. A user may exchange it between two calls (by
/// PetscDeviceContextSetCurrentContext()); our work is one chain all the same, whichever streams it was given to: a
/// stream that differs from the last one first waits for all that the last one has been given. So an object may be used
/// on several streams in turn, and memory is freed after its last use whatever stream that was on.
#include "device/stream.hpp"
#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

namespace sparsegpu
{

#if defined(PETSC_HAVE_CUDA)
namespace
{
struct Last {
  bool               used    = false;
  cudaStream_t       stream  = nullptr;
  PetscDeviceContext context = nullptr; ///< of `stream`, with a reference so that the stream lives on; null: let go of
};
Last        last;
cudaEvent_t reached    = nullptr; ///< by the last stream, when another one takes its place
cudaEvent_t vectors    = nullptr; ///< by the default stream, or by ours where that waits
bool        registered = false;   ///< LetGo(), for PetscFinalize()

/// Before PETSc's contexts end, which were there before this was registered.
PetscErrorCode LetGo()
{
  PetscFunctionBegin;
  registered = false;
  PetscCall(PetscDeviceContextDestroy(&last.context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is last.stream still there? A context may have been given another kind of stream.
PetscErrorCode LastLives(bool *lives)
{
  PetscFunctionBegin;
  *lives = false;
  #if PETSC_VERSION_GE(3, 20, 0)
  if (last.context) {
    void *handle;
    PetscCall(PetscDeviceContextGetStreamHandle(last.context, &handle));
    *lives = *static_cast<cudaStream_t *>(handle) == last.stream;
  }
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The chain goes on with `stream`, PETSc's current one.
PetscErrorCode GoOnWith(cudaStream_t stream)
{
  PetscDeviceContext context;

  PetscFunctionBegin;
  if (last.used) {
    bool lives;
    PetscCall(LastLives(&lives));
    if (lives) {
      if (!reached) SparseGPUCallCUDA(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming));
      SparseGPUCallCUDA(cudaEventRecord(reached, last.stream));
      SparseGPUCallCUDA(cudaStreamWaitEvent(stream, reached, 0));
    } else {
      SparseGPUCallCUDA(cudaDeviceSynchronize());
    }
  }
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscObjectReference((PetscObject)context));
  PetscCall(PetscDeviceContextDestroy(&last.context));
  last = Last{true, stream, context};
  if (!registered) PetscCall(PetscRegisterFinalize(LetGo));
  registered = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode StreamCreate()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceStream(Stream *stream)
{
  cudaStream_t current;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&current));
  if (!last.used || current != last.stream) PetscCall(GoOnWith(current));
  *stream = current;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceOrder()
{
  Stream stream;

  PetscFunctionBegin;
  if (last.used) PetscCall(DeviceStream(&stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether PETSc gives vector operations to another stream than the current one: since they have asynchronous variants.
static constexpr bool APART = PETSC_VERSION_GE(3, 20, 0);

/// `late` waits for what `early` has been given.
static PetscErrorCode Wait(cudaStream_t late, cudaStream_t early)
{
  PetscFunctionBegin;
  if (!vectors) SparseGPUCallCUDA(cudaEventCreateWithFlags(&vectors, cudaEventDisableTiming));
  SparseGPUCallCUDA(cudaEventRecord(vectors, early));
  SparseGPUCallCUDA(cudaStreamWaitEvent(late, vectors, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceAfterVectors()
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (stream && APART) PetscCall(Wait(static_cast<cudaStream_t>(stream), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceBeforeVectors()
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (stream && APART) PetscCall(Wait(nullptr, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StreamFinalize()
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceContextDestroy(&last.context));
  if (reached) SparseGPUCallCUDA(cudaEventDestroy(reached));
  if (vectors) SparseGPUCallCUDA(cudaEventDestroy(vectors));
  last    = Last();
  reached = vectors = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else
static cudaStream_t own = nullptr;

PetscErrorCode StreamCreate()
{
  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaStreamCreate(&own)); // waits for the default stream, where callers fill their arrays
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceStream(Stream *stream)
{
  PetscFunctionBegin;
  *stream = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceOrder()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's vectors are on the host.
PetscErrorCode DeviceAfterVectors()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceBeforeVectors()
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StreamFinalize()
{
  PetscFunctionBegin;
  if (own) SparseGPUCallCUDA(cudaStreamDestroy(own));
  own = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace sparsegpu
