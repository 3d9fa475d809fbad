/// Sorts and running sums by CUB, with scratch memory of the caller. Stable, hence reproducible.
#include "device/cub_call.cuh"
#include "device/sort.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

template <class T>
PetscErrorCode RunningSum(PetscInt count, Array<T> *values, T *total, DeviceMemory *scratch, Stream stream)
{
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  CallCUB(scratch, cub::DeviceScan::ExclusiveSum, values->data(), values->data(), static_cast<int64_t>(count) + 1, s);
  PetscCall(DeviceCopyOut(total, values->data() + count, sizeof(T), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode RunningSum(PetscInt, Array<PetscInt> *, PetscInt *, DeviceMemory *, Stream);
#if !defined(PETSC_USE_64BIT_INDICES)
template PetscErrorCode RunningSum(PetscInt, Array<PetscCount> *, PetscCount *, DeviceMemory *, Stream);
#endif

static __global__ void identity_kernel(PetscInt count, PetscInt *index)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) index[k] = k;
}

template <class Key> PetscErrorCode SortKeys(PetscInt count, int bits, Array<Key> *keys, Array<PetscInt> *order,
                                             DeviceMemory *scratch, Stream stream)
{
  constexpr int      THREADS = 256;
  const cudaStream_t s       = static_cast<cudaStream_t>(stream);
  Array<Key>         other_keys;
  Array<PetscInt>    other_order;

  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(order->Allocate(count, Space::Device));
  PetscCall(other_order.Allocate(count, Space::Device));
  PetscCall(other_keys.Allocate(count, Space::Device));
  identity_kernel<<<static_cast<unsigned>((count + THREADS - 1) / THREADS), THREADS, 0, s>>>(count, other_order.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  CallCUB(scratch, cub::DeviceRadixSort::SortPairs, keys->data(), other_keys.data(), other_order.data(), order->data(),
          static_cast<int64_t>(count), 0, bits, s);
  std::swap(*keys, other_keys);
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode SortKeys(PetscInt, int, Array<unsigned> *, Array<PetscInt> *, DeviceMemory *, Stream);
template PetscErrorCode SortKeys(PetscInt, int, Array<unsigned long long> *, Array<PetscInt> *, DeviceMemory *, Stream);

} // namespace sparsegpu
