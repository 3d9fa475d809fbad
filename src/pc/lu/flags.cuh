/// Values that are their own flags (pc/trisolve/poll.cuh), in single precision, too.
#pragma once

#include "device/load.cuh"
#include "device/single.hpp"
#include "pc/lu/names.hpp"
#include "pc/trisolve/poll.cuh"

namespace sparsegpu::lu
{

using sparsegpu::load_shared;
using trisolve::IsMissing;
using trisolve::poll;
using trisolve::publish;

#if !defined(PETSC_USE_REAL_SINGLE)
/// The payload in single precision, see PAD_BITS, and the NaN that stands for one met.
constexpr unsigned SINGLE_FLAG = 0x7fd5a5e1u, SINGLE_NAN = 0x7fffffffu;

__device__ __forceinline__ float poll(const float *p)
{
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ void publish(float *p, float v)
{
  const float published = __float_as_uint(v) == SINGLE_FLAG ? __uint_as_float(SINGLE_NAN) : v;
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(published) : "memory");
}
  #if defined(PETSC_USE_COMPLEX)
__device__ __forceinline__ Single poll(const Single *p)
{
  return Single(poll(&p->re), poll(&p->im));
}
__device__ __forceinline__ void publish(Single *p, const Single &v)
{
  publish(&p->re, v.re);
  publish(&p->im, v.im);
}
__device__ __forceinline__ bool IsMissing(const Single &v)
{
  return __float_as_uint(v.re) == SINGLE_FLAG || __float_as_uint(v.im) == SINGLE_FLAG;
}
__device__ __forceinline__ Single load_shared(const Single *p)
{
  return Single(__ldcg(&p->re), __ldcg(&p->im));
}
  #else
__device__ __forceinline__ bool IsMissing(const Single &v)
{
  return __float_as_uint(v) == SINGLE_FLAG;
}
  #endif
#endif

/// What is not there yet.
template <class S> __device__ __forceinline__ S Missing()
{
  if constexpr (std::is_same<S, Scalar>::value) {
    return NotYet();
  } else {
#if defined(PETSC_USE_REAL_SINGLE)
    return NotYet();
#elif defined(PETSC_USE_COMPLEX)
    return Single(__uint_as_float(SINGLE_FLAG), __uint_as_float(SINGLE_FLAG));
#else
    return __uint_as_float(SINGLE_FLAG);
#endif
  }
}
/// What a solve leaves when it gives up.
template <class S> __device__ __forceinline__ S Abandoned()
{
  return Rounded<S>(GivenUp());
}

} // namespace sparsegpu::lu
