/// DeviceFound() and its companions through the CUDA runtime.
#include <vector>
#include "device/cublas.hpp"
#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "device/host_memory.hpp"
#include "device/limits.hpp"
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
State         state = State::Unknown;
char          absent_why[256];
char          device_name[256];
PetscInt      device_multiprocessors;
size_t        device_l2;
cudaMemPool_t pool        = nullptr; // none where the device has no pools
PetscCount    allocations = 0;
/// Small pieces of pinned memory, flags mostly, come from pages: to pin one alone takes longer than many a solve.
constexpr size_t    SLOT = 64, PAGE = 4096;
std::vector<char *> pages;
std::vector<void *> free_slots;

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

/// Device memory from a pool of ours: an allocation takes microseconds and no release waits for the device. What is
/// free beyond a few hundred megabytes goes back to the driver at the next synchronisation.
PetscErrorCode CreatePool(int device)
{
  cudaMemPoolProps props     = {};
  int              supported = 0;
  uint64_t         keep      = 256ull << 20;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (!supported) PetscFunctionReturn(PETSC_SUCCESS);
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = device;
  SparseGPUCallCUDA(cudaMemPoolCreate(&pool, &props));
  SparseGPUCallCUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscCount DeviceAllocations()
{
  return allocations;
}

PetscErrorCode DeviceAllocate(size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  allocations++;
  cudaError_t err;
  Stream      stream;
  size_t      most;
  PetscCall(DeviceStream(&stream));
  PetscCall(LargestArray(&most));
  if (bytes > most)
    err = cudaErrorMemoryAllocation;
  else if (pool)
    err = cudaMallocFromPoolAsync(p, bytes, pool, static_cast<cudaStream_t>(stream));
  else
    err = cudaMalloc(p, bytes);
  if (err == cudaErrorMemoryAllocation) {
    size_t free_bytes = 0, total = 0;
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&free_bytes, &total);
    *p = nullptr;
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of GPU memory: %zu bytes asked for, %zu of %zu bytes free", bytes,
            free_bytes, total);
  }
  SparseGPUCallCUDA(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFree(void *p)
{
  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  Stream stream;
  PetscCall(DeviceStream(&stream));
  if (pool)
    SparseGPUCallCUDA(cudaFreeAsync(p, static_cast<cudaStream_t>(stream)));
  else
    SparseGPUCallCUDA(cudaFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceMemoryLeft(double *bytes)
{
  unsigned long long reserved = 0, used = 0; // cuuint64_t
  size_t             free_bytes, total;
  Stream             stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceSynchronize(stream)); // what has been freed on it is free then
  SparseGPUCallCUDA(cudaMemGetInfo(&free_bytes, &total));
  if (pool) {
    SparseGPUCallCUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    SparseGPUCallCUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  }
  *bytes = static_cast<double>(free_bytes) + static_cast<double>(reserved - used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceAllocatePinned(size_t bytes, void **p)
{
  PetscFunctionBegin;
  if (bytes > SLOT) {
    SparseGPUCallCUDA(cudaMallocHost(p, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (free_slots.empty()) {
    void *page;
    SparseGPUCallCUDA(cudaMallocHost(&page, PAGE));
    PetscCallCXX(pages.push_back(static_cast<char *>(page)));
    for (size_t at = 0; at < PAGE; at += SLOT) PetscCallCXX(free_slots.push_back(pages.back() + at));
  }
  *p = free_slots.back();
  free_slots.pop_back();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFreePinned(void *p)
{
  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  for (char *page : pages)
    if (p >= page && p < page + PAGE) {
      PetscCallCXX(free_slots.push_back(p));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  SparseGPUCallCUDA(cudaFreeHost(p));
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
  if (free_slots.size() == pages.size() * (PAGE / SLOT)) { // nobody has one
    for (char *page : pages) SparseGPUCallCUDA(cudaFreeHost(page));
    pages.clear();
    free_slots.clear();
  }
  if (pool) SparseGPUCallCUDA(cudaMemPoolDestroy(pool)); // what is still in use lives on
  pool  = nullptr;
  state = State::Unknown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
