/// Memory of the device and pinned memory of the host, through the CUDA runtime: a pool of device memory, pages of
/// pinned memory that small pieces share, and larger pieces that are kept for the next who asks.
#include "device/memory.hpp"
#include <algorithm>
#include <map>
#include <vector>
#include "device/cuda_check.hpp"
#include "device/device.hpp"
#include "device/limits.hpp"

namespace sparsegpu
{

namespace
{
cudaMemPool_t pool        = nullptr; // none where the device has no pools
PetscCount    allocations = 0;
/// Small pieces of pinned memory, flags mostly, come from pages: to pin one alone takes longer than many a solve.
constexpr size_t SLOT = 64, PAGE = 4096;
/// To pin a megabyte takes as long as to copy ten, and to unpin it the same. Sizes are powers of two, so that one fits
/// another's.
constexpr size_t MOST_KEPT = size_t(128) << 20; // bytes, of those that nobody uses

struct Pinned {
  std::vector<char *>           pages;
  std::vector<void *>           free_slots;
  std::map<void *, size_t>      in_use; ///< bytes of each piece larger than a slot
  std::multimap<size_t, void *> kept;   ///< the same of those that nobody uses
  size_t                        bytes_kept = 0;
};
/// Never destroyed: owners of such memory may live until the process ends.
Pinned &ThePinned()
{
  static Pinned *const pinned = new Pinned;
  return *pinned;
}
} // namespace

PetscErrorCode CreatePool(int device)
{
  cudaMemPoolProps props     = {};
  int              supported = 0;
  size_t           left, total;

  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (!supported) PetscFunctionReturn(PETSC_SUCCESS);
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = device;
  SparseGPUCallCUDA(cudaMemPoolCreate(&pool, &props));
  // Less costs time where much is taken and given back: of a set-up of multigrid, 13 % with 256 MB. PETSc's pool keeps
  // all.
  SparseGPUCallCUDA(cudaMemGetInfo(&left, &total));
  uint64_t keep = total / 8;
  SparseGPUCallCUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
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

/// Pieces that nobody uses.
static PetscErrorCode UnpinKept()
{
  Pinned &pinned = ThePinned();

  PetscFunctionBegin;
  for (const auto &piece : pinned.kept) SparseGPUCallCUDA(cudaFreeHost(piece.second));
  pinned.kept.clear();
  pinned.bytes_kept = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pin(size_t bytes, void **p)
{
  Pinned &pinned = ThePinned();

  PetscFunctionBegin;
  cudaError_t err = cudaMallocHost(p, bytes);
  if (err == cudaErrorMemoryAllocation && pinned.bytes_kept > 0) {
    (void)cudaGetLastError();
    PetscCall(UnpinKept());
    err = cudaMallocHost(p, bytes);
  }
  if (err == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of pinned host memory: %zu bytes asked for", bytes);
  }
  SparseGPUCallCUDA(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocatePinnedPiece(size_t bytes, void **p)
{
  Pinned &pinned = ThePinned();
  size_t  size   = PAGE;

  PetscFunctionBegin;
  while (size < bytes && size < MOST_KEPT) size *= 2;
  size             = std::max(size, bytes);
  const auto piece = pinned.kept.find(size);
  if (piece != pinned.kept.end()) {
    *p = piece->second;
    pinned.kept.erase(piece);
    pinned.bytes_kept -= size;
  } else {
    PetscCall(Pin(size, p));
  }
  PetscCallCXX(pinned.in_use[*p] = size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceAllocatePinned(size_t bytes, void **p)
{
  Pinned &pinned = ThePinned();

  PetscFunctionBegin;
  if (bytes > SLOT) {
    PetscCall(AllocatePinnedPiece(bytes, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pinned.free_slots.empty()) {
    void *page;
    PetscCall(Pin(PAGE, &page));
    PetscCallCXX(pinned.pages.push_back(static_cast<char *>(page)));
    for (size_t at = 0; at < PAGE; at += SLOT) PetscCallCXX(pinned.free_slots.push_back(pinned.pages.back() + at));
  }
  *p = pinned.free_slots.back();
  pinned.free_slots.pop_back();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFreePinned(void *p)
{
  Pinned &pinned = ThePinned();

  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaDeviceSynchronize()); // a copy from it or to it may be under way
  const auto piece = pinned.in_use.find(p);
  if (piece == pinned.in_use.end()) {
    PetscCallCXX(pinned.free_slots.push_back(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const size_t size = piece->second;
  pinned.in_use.erase(piece);
  if (size > MOST_KEPT) {
    SparseGPUCallCUDA(cudaFreeHost(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pinned.bytes_kept + size > MOST_KEPT) PetscCall(UnpinKept()); // of sizes that are asked for no longer
  PetscCallCXX(pinned.kept.emplace(size, p));
  pinned.bytes_kept += size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MemoryFinalize()
{
  Pinned &pinned = ThePinned();

  PetscFunctionBegin;
  if (pinned.free_slots.size() == pinned.pages.size() * (PAGE / SLOT)) { // none is in use
    for (char *page : pinned.pages) SparseGPUCallCUDA(cudaFreeHost(page));
    pinned.pages.clear();
    pinned.free_slots.clear();
  }
  PetscCall(UnpinKept());
  if (pool) SparseGPUCallCUDA(cudaMemPoolDestroy(pool)); // what is still in use lives on
  pool = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
