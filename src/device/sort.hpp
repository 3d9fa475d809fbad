/// Sorts and running sums on the device, by CUB. `scratch` grows to what they need.
#pragma once

#include "device/buffer.hpp"

namespace sparsegpu
{

/// Sorts `count` keys of `bits` bits with their indices (0, 1, ...): order[k] is the index of the k-th smallest key,
/// equal ones in ascending order. Keys are unsigned or unsigned long long.
template <class Key> PetscErrorCode SortKeys(PetscInt count, int bits, Array<Key> *keys, Array<PetscInt> *order,
                                             DeviceMemory *scratch, Stream stream);
/// value[k] = value[0] + ... + value[k - 1] for k <= count; *total = value[count].
template <class T>
PetscErrorCode RunningSum(PetscInt count, Array<T> *values, T *total, DeviceMemory *scratch, Stream stream);

} // namespace sparsegpu
