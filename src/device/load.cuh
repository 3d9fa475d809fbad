/// Loads that say how the data is used.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu
{

/// Matrix data is read once per product: evict it first, so that x stays in the caches.
template <class T> __device__ __forceinline__ T load_stream(const T *p)
{
  return __ldcs(p);
}
/// Data that no kernel in flight writes, read by neighbouring threads or blocks again: stays in the caches.
template <class T> __device__ __forceinline__ T load_often(const T *p)
{
  return __ldg(p);
}
/// Will be read soon by this thread: on its way meanwhile, in no register.
__device__ __forceinline__ void fetch_ahead(const void *p)
{
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
/// The same as far as the L2 cache: much else is read before.
__device__ __forceinline__ void fetch_to_l2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
/// Not read again soon: the caches are for others.
template <class T> __device__ __forceinline__ void store_stream(T *p, const T &v)
{
  __stcs(p, v);
}
/// Written by another thread block of the same launch: from L2, not from a stale L1 line.
template <class T> __device__ __forceinline__ T load_shared(const T *p)
{
  return __ldcg(p);
}
#if defined(PETSC_USE_COMPLEX)
__device__ __forceinline__ Scalar load_stream(const Scalar *p)
{
  return Scalar(__ldcs(&p->re), __ldcs(&p->im));
}
__device__ __forceinline__ Scalar load_often(const Scalar *p)
{
  return Scalar(__ldg(&p->re), __ldg(&p->im));
}
__device__ __forceinline__ void store_stream(Scalar *p, const Scalar &v)
{
  __stcs(&p->re, v.re);
  __stcs(&p->im, v.im);
}
__device__ __forceinline__ Scalar load_shared(const Scalar *p)
{
  return Scalar(__ldcg(&p->re), __ldcg(&p->im));
}
#endif

} // namespace sparsegpu
