/// Limits are read from the device once, and lowered by the options for tests. Cooperative launches can fail although
/// the device has enough room for them when it is idle: the caller then takes another way.
#include "device/limits.hpp"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include "device/cuda_check.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
struct Limits {
  bool     known           = false;
  PetscInt multiprocessors = 0;
  size_t   shared          = 0; ///< bytes of a thread block
  bool     cooperative     = false;
  bool     refuses         = false;    ///< cooperative launches, for tests
  bool     stuck           = false;    ///< solves say that they got stuck, for tests
  size_t   array           = SIZE_MAX; ///< bytes, for tests
};
Limits limits;

/// What the options for tests take away.
PetscErrorCode Lower()
{
  constexpr PetscInt LEAST = 48 * 1024; // all devices have that
  PetscInt           bytes;
  char               how[16];
  PetscBool          set, stuck = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-sparsegpu_device_shared_memory", &bytes, &set));
  if (set) {
    PetscCheck(bytes >= LEAST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-sparsegpu_device_shared_memory %" PetscInt_FMT " must be at least %" PetscInt_FMT, bytes, LEAST);
    limits.shared = std::min(limits.shared, static_cast<size_t>(bytes));
  }
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-sparsegpu_device_largest_array", &bytes, &set));
  if (set) {
    PetscCheck(bytes >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-sparsegpu_device_largest_array %" PetscInt_FMT " must be non-negative", bytes);
    limits.array = static_cast<size_t>(bytes);
  }
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_device_stuck", &stuck, nullptr));
  limits.stuck = stuck == PETSC_TRUE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-sparsegpu_device_cooperative", how, sizeof(how), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!strcmp(how, "yes") || !strcmp(how, "no") || !strcmp(how, "refused"), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "-sparsegpu_device_cooperative %s must be yes, no or refused", how);
  if (!strcmp(how, "no")) limits.cooperative = false;
  limits.refuses = !strcmp(how, "refused");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ask()
{
  int device, multiprocessors, shared, cooperative;

  PetscFunctionBegin;
  if (limits.known) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaGetDevice(&device));
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  limits.multiprocessors = multiprocessors;
  limits.shared          = static_cast<size_t>(shared);
  limits.cooperative     = cooperative != 0;
  PetscCall(Lower());
  limits.known = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SharedMemoryFor(const void *kernel, size_t *bytes)
{
  cudaFuncAttributes facts;

  PetscFunctionBegin;
  PetscCall(Ask());
  SparseGPUCallCUDA(cudaFuncGetAttributes(&facts, kernel));
  *bytes = limits.shared > facts.sharedSizeBytes ? limits.shared - facts.sharedSizeBytes : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResidentBlocks(const void *kernel, int threads, size_t shared, PetscInt *blocks)
{
  size_t most;
  int    resident;

  PetscFunctionBegin;
  *blocks = 0;
  PetscCall(Ask());
  if (shared > 0) {
    PetscCall(SharedMemoryFor(kernel, &most));
    if (shared > most) PetscFunctionReturn(PETSC_SUCCESS);
    SparseGPUCallCUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }
  SparseGPUCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared));
  *blocks = resident * limits.multiprocessors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CooperativeBlocks(const void *kernel, int threads, size_t shared, PetscInt *blocks)
{
  PetscFunctionBegin;
  PetscCall(ResidentBlocks(kernel, threads, shared, blocks));
  if (!limits.cooperative) *blocks = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LaunchCooperative(const void *kernel, PetscInt blocks, int threads, void **arguments, size_t shared,
                                 Stream stream, bool *launched)
{
  cudaError_t error = cudaErrorCooperativeLaunchTooLarge;

  PetscFunctionBegin;
  PetscCall(Ask());
  if (!limits.refuses)
    error =
        cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)),
                                    arguments, shared, static_cast<cudaStream_t>(stream));
  *launched = error != cudaErrorCooperativeLaunchTooLarge && error != cudaErrorNotSupported;
  if (*launched) {
    SparseGPUCallCUDA(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)cudaGetLastError(); // the caller has another way
  PetscCall(PetscInfo(nullptr, "The GPU refuses %" PetscInt_FMT " thread blocks that wait for each other: %s\n", blocks,
                      cudaGetErrorString(error)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LargestArray(size_t *bytes)
{
  PetscFunctionBegin;
  PetscCall(Ask());
  *bytes = limits.array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendsStuck(bool *stuck)
{
  PetscFunctionBegin;
  PetscCall(Ask());
  *stuck = limits.stuck;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ForgetLimits()
{
  limits = Limits();
}

} // namespace sparsegpu
