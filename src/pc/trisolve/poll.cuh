/// Values that are their own flags: a reader polls until the reserved payload is gone. Each real is one word, read and
/// written whole, and all that a reader needs is in it, so that no fence is needed.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu
{

#if defined(PETSC_USE_REAL_SINGLE)
  #define SPARSEGPU_PTX_REAL     "f32"
  #define SPARSEGPU_PTX_REGISTER "f"
#else
  #define SPARSEGPU_PTX_REAL     "f64"
  #define SPARSEGPU_PTX_REGISTER "d"
#endif

__device__ __forceinline__ PetscReal poll(const PetscReal *p)
{
  PetscReal v;
  asm volatile("ld.relaxed.gpu.global." SPARSEGPU_PTX_REAL " %0, [%1];" : "=" SPARSEGPU_PTX_REGISTER(v) : "l"(p));
  return v;
}
__device__ __forceinline__ void publish_real(PetscReal *p, PetscReal v)
{
  if (BitsOf(v) == PAD_BITS) v = RealOf(PAD_BITS ^ 1); // a right-hand side may hold the flag itself
  asm volatile("st.relaxed.gpu.global." SPARSEGPU_PTX_REAL " [%0], %1;" ::"l"(p), SPARSEGPU_PTX_REGISTER(v) : "memory");
}
#if defined(PETSC_USE_COMPLEX)
/// Both parts are flags: a Scalar is there when neither is the payload.
__device__ __forceinline__ Scalar poll(const Scalar *p)
{
  return Scalar(poll(&p->re), poll(&p->im));
}
__device__ __forceinline__ void publish(Scalar *p, const Scalar &v)
{
  publish_real(&p->re, v.re);
  publish_real(&p->im, v.im);
}
__device__ __forceinline__ bool IsPadded(const Scalar &v)
{
  return BitsOf(v.re) == PAD_BITS || BitsOf(v.im) == PAD_BITS;
}
__device__ __forceinline__ Scalar NotYet()
{
  return Scalar(RealOf(PAD_BITS), RealOf(PAD_BITS));
}
#else
__device__ __forceinline__ void publish(Scalar *p, const Scalar &v)
{
  publish_real(p, v);
}
__device__ __forceinline__ bool IsPadded(const Scalar &v)
{
  return BitsOf(v) == PAD_BITS;
}
__device__ __forceinline__ Scalar NotYet()
{
  return RealOf(PAD_BITS);
}
#endif

} // namespace sparsegpu
