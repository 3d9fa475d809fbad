/// The device of this process, what it is, and copies to, from and on it, through the CUDA runtime.
#include "device/cublas.hpp"
#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "device/host_memory.hpp"
#include "device/limits.hpp"
#include "device/memory.hpp"
#include "device/staging.hpp"
#include "device/stream.hpp"
#include "petsc/compat.hpp"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

namespace sparsegpu
{

namespace
{
enum class State {
  Unknown,
  Absent,
  Present
};
State    state = State::Unknown;
char     absent_why[256];
char     device_name[256];
PetscInt device_multiprocessors;
size_t   device_l2;

#if !defined(PETSC_HAVE_CUDA)
/// -sparsegpu_device N, else the rank within the node modulo the devices.
PetscErrorCode ChooseDevice(int count, int *device)
{
  PetscInt    wanted = 0;
  PetscBool   set;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-sparsegpu_device", &wanted, &set));
  if (set) {
    PetscCheck(wanted >= 0 && wanted < count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-sparsegpu_device %" PetscInt_FMT " is not one of the %d visible devices (0 to %d)", wanted, count,
               count - 1);
    *device = static_cast<int>(wanted);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The node's ranks cannot be counted by a collective call here: the first product of one rank may be nobody else's.
  const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                               "SLURM_LOCALID"};
  for (const char *name : names) {
    if (const char *value = getenv(name)) {
      *device = atoi(value) % count;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  *device = rank % count;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Find()
{
  int         count = 0;
  cudaError_t err;

  PetscFunctionBegin;
  err = cudaGetDeviceCount(&count);
  if (err != cudaSuccess || count == 0) {
    (void)cudaGetLastError(); // clear it: having no GPU is not an error
    PetscCall(PetscSNPrintf(absent_why, sizeof(absent_why), "CUDA finds no device: %s",
                            err == cudaSuccess ? "none is visible" : cudaGetErrorString(err)));
    state = State::Absent;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  int device = 0;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  SparseGPUCallCUDA(cudaGetDevice(&device));
#else
  PetscCall(ChooseDevice(count, &device));
  SparseGPUCallCUDA(cudaSetDevice(device));
#endif
  PetscCall(StreamCreate());
  cudaDeviceProp properties;
  SparseGPUCallCUDA(cudaGetDeviceProperties(&properties, device));
  PetscCall(PetscStrncpy(device_name, properties.name, sizeof(device_name)));
  device_multiprocessors = properties.multiProcessorCount;
  device_l2              = static_cast<size_t>(properties.l2CacheSize);
  PetscCall(CreatePool(device));
  state = State::Present;
  PetscCall(PetscInfo(nullptr, "Using CUDA device %d of %d: %s\n", device, count, device_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode DeviceFound(PetscBool *found, const char **why)
{
  PetscFunctionBegin;
  if (state == State::Unknown) PetscCall(Find());
  *found = state == State::Present ? PETSC_TRUE : PETSC_FALSE;
  if (why) *why = absent_why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSynchronize(Stream stream)
{
  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFacts(const char **name, PetscInt *multiprocessors, size_t *l2)
{
  PetscFunctionBegin;
  if (name) *name = device_name;
  if (multiprocessors) *multiprocessors = device_multiprocessors;
  if (l2) *l2 = device_l2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceCopyIn(void *device, const void *host, size_t bytes, Stream stream)
{
  bool staged = false;

  PetscFunctionBegin;
  PetscCall(StagingPays(host, bytes, &staged));
  if (staged) PetscCall(StagedCopyIn(device, host, bytes, CopyThreads(), stream, &staged));
  if (bytes && !staged)
    SparseGPUCallCUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceCopyOut(void *host, const void *device, size_t bytes, Stream stream)
{
  bool staged = false;

  PetscFunctionBegin;
  PetscCall(StagingPays(host, bytes, &staged));
  if (staged) {
    AdviseHugePages(host, bytes);
    PetscCall(StagedCopyOut(host, device, bytes, CopyThreads(), stream, &staged));
  }
  if (bytes && !staged) {
    SparseGPUCallCUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream)));
    SparseGPUCallCUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceCopyWithin(void *to, const void *from, size_t bytes, Stream stream)
{
  PetscFunctionBegin;
  if (bytes)
    SparseGPUCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DevicePointer(const void *p, PetscBool *device)
{
  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (!p || state == State::Absent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool found;
  PetscCall(DeviceFound(&found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) {
    (void)cudaGetLastError();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *device = attributes.type == cudaMemoryTypeDevice ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFinalize()
{
  PetscFunctionBegin;
  PetscCall(StreamFinalize());
  ForgetLimits();
  PetscCall(StagingFinalize());
  PetscCall(CublasFinalize());
  PetscCall(MemoryFinalize());
  state = State::Unknown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
