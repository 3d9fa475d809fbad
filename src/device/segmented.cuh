/// Segmented sums of one thread block, for workers that share rows.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu
{

__device__ __forceinline__ PetscReal shuffle_xor(PetscReal v, int mask, int width)
{
  return __shfl_xor_sync(0xffffffffu, v, mask, width);
}
__device__ __forceinline__ PetscReal shuffle_up(PetscReal v, int delta)
{
  return __shfl_up_sync(0xffffffffu, v, delta);
}
#if defined(PETSC_USE_COMPLEX)
__device__ __forceinline__ Scalar shuffle_xor(Scalar v, int mask, int width)
{
  return Scalar(shuffle_xor(v.re, mask, width), shuffle_xor(v.im, mask, width));
}
__device__ __forceinline__ Scalar shuffle_up(Scalar v, int delta)
{
  return Scalar(shuffle_up(v.re, delta), shuffle_up(v.im, delta));
}
#endif

/// Sum over groups of `width` neighbouring lanes (a power of two), to all of them. All 32 lanes must call.
template <int width> __device__ __forceinline__ Scalar group_sum(Scalar v)
{
#pragma unroll
  for (int mask = width / 2; mask > 0; mask /= 2) v += shuffle_xor(v, mask, width);
  return v;
}

/// Sum over the block, in a fixed order, to thread 0. `warps` [THREADS / 32] is shared scratch. All threads must call.
template <int THREADS> __device__ __forceinline__ Scalar block_sum(Scalar v, Scalar *warps)
{
  v = group_sum<32>(v);
  __syncthreads(); // the scratch may still be read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < THREADS / 32; w++) v += warps[w];
  return v;
}

/// What thread t must add to its first segment: the sum of `tail` over the threads before it, back to and including the
/// nearest one with `head` set (a segment begins in it), starting from `carry` before thread 0. *total is the same for
/// a thread after the last. `warps` [THREADS / 32] and `flags` are shared scratch. All threads of the block must call.
template <int THREADS> __device__ __forceinline__ Scalar segmented_carry(bool head, Scalar tail, Scalar carry,
                                                                         Scalar *warps, bool *flags, Scalar *total)
{
  constexpr int WARPS = THREADS / 32;
  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Scalar        sum  = tail;
  bool          flag = head;

#pragma unroll
  for (int delta = 1; delta < 32; delta *= 2) {
    const Scalar before      = shuffle_up(sum, delta);
    const bool   flag_before = __shfl_up_sync(0xffffffffu, flag, delta);
    if (lane >= delta) {
      if (!flag) sum = before + sum;
      flag = flag || flag_before;
    }
  }
  if (lane == 31) {
    warps[warp] = sum;
    flags[warp] = flag;
  }
  __syncthreads();
  Scalar in      = carry; // what arrives at this warp
  Scalar running = carry;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    if (w == warp) in = running;
    running = flags[w] ? warps[w] : running + warps[w];
  }
  *total                   = running;
  const Scalar before      = shuffle_up(sum, 1);
  const bool   flag_before = __shfl_up_sync(0xffffffffu, flag, 1);
  __syncthreads(); // the scratch may be used again
  if (lane == 0) return in;
  return flag_before ? before : in + before;
}

} // namespace sparsegpu
