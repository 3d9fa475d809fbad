/// Reductions over the lanes of a warp, all of which must call.
#pragma once

namespace sparsegpu
{

/// The largest of the warp, to all its lanes.
static __device__ __forceinline__ unsigned LargestOfWarp(unsigned bits)
{
  return __reduce_max_sync(0xffffffffu, bits);
}
static __device__ __forceinline__ unsigned long long LargestOfWarp(unsigned long long bits)
{
  const unsigned high = static_cast<unsigned>(bits >> 32), most = __reduce_max_sync(0xffffffffu, high);
  const unsigned low = __reduce_max_sync(0xffffffffu, high == most ? static_cast<unsigned>(bits) : 0);
  return static_cast<unsigned long long>(most) << 32 | low;
}

} // namespace sparsegpu
