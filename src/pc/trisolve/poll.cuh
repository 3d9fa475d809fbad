/// Values that are their own flags: a reader polls until the reserved payload is gone. Each real is one word, read and
/// written whole, and all that a reader needs is in it, so that no fence is needed.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::trisolve
{

#if defined(PETSC_USE_REAL_SINGLE)
  #define SPARSEGPU_PTX_REAL     "f32"
  #define SPARSEGPU_PTX_REGISTER "f"
#else
  #define SPARSEGPU_PTX_REAL     "f64"
  #define SPARSEGPU_PTX_REGISTER "d"
#endif

__device__ __forceinline__ int poll(const int *p)
{
  int v;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ void publish(int *p, int v)
{
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ PetscReal poll(const PetscReal *p)
{
  PetscReal v;
  asm volatile("ld.relaxed.gpu.global." SPARSEGPU_PTX_REAL " %0, [%1];" : "=" SPARSEGPU_PTX_REGISTER(v) : "l"(p));
  return v;
}
/// The upper half of the flag's bits is enough to know it by: it is one compare on the way from a value to the next.
#if defined(PETSC_USE_REAL_SINGLE)
__device__ __forceinline__ unsigned UpperBits(PetscReal v)
{
  return BitsOf(v);
}
constexpr unsigned FLAG = PAD_BITS;
#else
__device__ __forceinline__ unsigned UpperBits(PetscReal v)
{
  return static_cast<unsigned>(__double2hiint(v));
}
constexpr unsigned              FLAG = static_cast<unsigned>(PAD_BITS >> 32);
#endif
/// The value published for v: another NaN if v could be taken for the flag, which a right-hand side may contain.
__device__ __forceinline__ PetscReal Published(PetscReal v)
{
  return UpperBits(v) == FLAG ? RealOf(~RealBits(0) >> 1) : v;
}
__device__ __forceinline__ void publish(PetscReal *p, PetscReal v)
{
  asm volatile("st.relaxed.gpu.global." SPARSEGPU_PTX_REAL " [%0], %1;" ::"l"(p), SPARSEGPU_PTX_REGISTER(Published(v))
               : "memory");
}
#if defined(PETSC_USE_COMPLEX)
/// Both parts are flags: a Scalar is there when neither is the payload.
__device__ __forceinline__ Scalar poll(const Scalar *p)
{
  return Scalar(poll(&p->re), poll(&p->im));
}
__device__ __forceinline__ Scalar Published(const Scalar &v)
{
  return Scalar(Published(v.re), Published(v.im));
}
__device__ __forceinline__ void publish(Scalar *p, const Scalar &v)
{
  publish(&p->re, v.re);
  publish(&p->im, v.im);
}
__device__ __forceinline__ bool IsMissing(const Scalar &v)
{
  return UpperBits(v.re) == FLAG || UpperBits(v.im) == FLAG;
}
__device__ __forceinline__ Scalar NotYet()
{
  return Scalar(RealOf(PAD_BITS), RealOf(PAD_BITS));
}
/// The same through shared memory.
__device__ __forceinline__ Scalar poll_near(const Scalar *p)
{
  return Scalar(*static_cast<const volatile PetscReal *>(&p->re), *static_cast<const volatile PetscReal *>(&p->im));
}
__device__ __forceinline__ void publish_near(Scalar *p, const Scalar &v)
{
  *static_cast<volatile PetscReal *>(&p->re) = Published(v.re);
  *static_cast<volatile PetscReal *>(&p->im) = Published(v.im);
}
#else
__device__ __forceinline__ bool IsMissing(const Scalar &v)
{
  return UpperBits(v) == FLAG;
}
__device__ __forceinline__ Scalar NotYet()
{
  return RealOf(PAD_BITS);
}
__device__ __forceinline__ Scalar poll_near(const Scalar *p)
{
  return *static_cast<const volatile Scalar *>(p);
}
__device__ __forceinline__ void publish_near(Scalar *p, const Scalar &v)
{
  *static_cast<volatile Scalar *>(p) = Published(v);
}
#endif
/// The time of the GPU, rounded to 1.024 microseconds; wraps after an hour.
__device__ __forceinline__ unsigned microseconds()
{
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return static_cast<unsigned>(nanoseconds >> 10);
}

/// How long a thread waits for a value: `spins` polls, and as many again as long as other threads make progress. So a
/// thread gives up only when the whole grid stands still, also on a GPU that is shared with others. That costs nothing
/// before a thread has polled so often.
struct Patience {
  unsigned polls = 0; ///< since the thread itself has got on
  unsigned seen  = 0; ///< of the progress
  unsigned since = 0; ///< when that was first seen, in microseconds; 0: never looked

  /// Counts an unsuccessful poll; true past the limit.
  __device__ __forceinline__ bool Tried(unsigned spins) { return ++polls > spins; }
  /// Past the limit: whether to give up. `progress` counts finished tasks, as their tickets do: a warp that ends one
  /// takes the next ticket. A task is a warp's: a waiter may poll shared memory a thousand times
  /// while a block runs through a chain. Once one thread has given up, all do.
  template <class Count, class Flag> __device__ __forceinline__ bool Over(const Count *progress, const Flag *stuck)
  {
    constexpr int  STILL = 20000; // microseconds: few polls may pass within one step of a chain
    const unsigned now   = static_cast<unsigned>(*static_cast<const volatile Count *>(progress));
    const unsigned time  = microseconds();
    if (now != seen || !since) since = time | 1u;
    polls = 0;
    seen  = now;
    return static_cast<int>(time - since) > STILL || *static_cast<const volatile Flag *>(stuck);
  }
  template <class Count, class Flag>
  __device__ __forceinline__ bool Ends(unsigned spins, const Count *progress, const Flag *stuck)
  {
    return Tried(spins) && Over(progress, stuck);
  }
};
/// -mat_sparsegpu_trisolve_spins as kernels count.
inline unsigned Spins(long long spins)
{
  constexpr long long MOST = 1ll << 31;
  return static_cast<unsigned>(spins < MOST ? spins : MOST);
}

/// The value that a solve leaves when it gives up: a NaN, but not the flag, so that no other thread waits for it.
__device__ __forceinline__ Scalar GivenUp()
{
  return Scalar(RealOf(~RealBits(0) >> 1));
}

} // namespace sparsegpu::trisolve
