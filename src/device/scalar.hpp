/// The one scalar type of every kernel. PetscScalar is another C++ type in each compiler when complex (std::complex,
/// thrust::complex, Kokkos::complex); this one is the same everywhere and has the layout of all of them.
#pragma once

#include <math.h>
#include <petscsys.h>
#include <type_traits>

#if defined(__CUDACC__)
  #define SPARSEGPU_HD __host__ __device__ __forceinline__
#else
  #define SPARSEGPU_HD inline
#endif

namespace sparsegpu
{

#if defined(PETSC_USE_COMPLEX)
/// a b + c d. On a GPU contracted in one way, wherever it is compiled into a kernel: the compiler would choose another
/// one in another place, so that bits would depend on the way that a thread takes through a kernel.
template <class Real> SPARSEGPU_HD Real SumOfProducts(Real a, Real b, Real c, Real d)
{
  #if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Real) == sizeof(float))
    return fmaf(a, b, __fmul_rn(c, d));
  else
    return fma(a, b, __dmul_rn(c, d));
  #else
  return a * b + c * d;
  #endif
}

struct Scalar {
  PetscReal re, im;

  Scalar() = default;
  SPARSEGPU_HD constexpr Scalar(PetscReal r, PetscReal i = 0) : re(r), im(i) {}
  SPARSEGPU_HD Scalar &operator+=(const Scalar &b)
  {
    re += b.re;
    im += b.im;
    return *this;
  }
};
SPARSEGPU_HD Scalar operator+(const Scalar &a, const Scalar &b)
{
  return Scalar(a.re + b.re, a.im + b.im);
}
SPARSEGPU_HD Scalar operator-(const Scalar &a, const Scalar &b)
{
  return Scalar(a.re - b.re, a.im - b.im);
}
SPARSEGPU_HD Scalar operator*(const Scalar &a, const Scalar &b)
{
  return Scalar(SumOfProducts(a.re, b.re, -a.im, b.im), SumOfProducts(a.re, b.im, a.im, b.re));
}
SPARSEGPU_HD Scalar Conj(const Scalar &a)
{
  return Scalar(a.re, -a.im);
}
SPARSEGPU_HD Scalar Inverse(const Scalar &a)
{
  const PetscReal square = SumOfProducts(a.re, a.re, a.im, a.im);
  return Scalar(a.re / square, -a.im / square);
}
SPARSEGPU_HD PetscReal Magnitude(const Scalar &a)
{
  return sizeof(PetscReal) == sizeof(float) ? hypotf(static_cast<float>(a.re), static_cast<float>(a.im))
                                            : hypot(static_cast<double>(a.re), static_cast<double>(a.im));
}
SPARSEGPU_HD PetscReal RealPart(const Scalar &a)
{
  return a.re;
}
SPARSEGPU_HD void SetRealPart(Scalar &a, PetscReal re)
{
  a.re = re;
}
#else
using Scalar = PetscReal;
SPARSEGPU_HD Scalar Conj(const Scalar &a)
{
  return a;
}
SPARSEGPU_HD Scalar Inverse(const Scalar &a)
{
  return 1 / a;
}
SPARSEGPU_HD PetscReal Magnitude(const Scalar &a)
{
  return a < 0 ? -a : a;
}
SPARSEGPU_HD PetscReal RealPart(const Scalar &a)
{
  return a;
}
SPARSEGPU_HD void SetRealPart(Scalar &a, PetscReal re)
{
  a = re;
}
#endif
SPARSEGPU_HD PetscReal SquareRoot(PetscReal a)
{
  return sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(a)))
                                            : static_cast<PetscReal>(sqrt(static_cast<double>(a)));
}
/// The larger magnitude of real and imaginary part: within sqrt(2) of Magnitude(), without a root. NaN may be lost.
SPARSEGPU_HD PetscReal LargestPart(const Scalar &a)
{
#if defined(PETSC_USE_COMPLEX)
  const PetscReal re = a.re < 0 ? -a.re : a.re, im = a.im < 0 ? -a.im : a.im;
  return re > im ? re : im;
#else
  return Magnitude(a);
#endif
}
static_assert(sizeof(Scalar) == sizeof(PetscScalar), "Scalar must have the layout of PetscScalar");

/// The bits of a real, PetscReal or float, for comparisons that must tell one NaN from another.
template <class Real> using BitsFor =
    typename std::conditional<sizeof(Real) == sizeof(float), unsigned int, unsigned long long>::type;
using RealBits = BitsFor<PetscReal>;
static_assert(sizeof(RealBits) == sizeof(PetscReal), "RealBits must have the size of PetscReal");

template <class Real> SPARSEGPU_HD BitsFor<Real> BitsOf(Real v)
{
  union
  {
    Real          v;
    BitsFor<Real> bits;
  } u;
  u.v = v;
  return u.bits;
}
template <class Real = PetscReal> SPARSEGPU_HD Real RealOf(BitsFor<Real> bits)
{
  union
  {
    Real          v;
    BitsFor<Real> bits;
  } u;
  u.bits = bits;
  return u.v;
}
SPARSEGPU_HD bool SameBits(const Scalar &a, const Scalar &b)
{
#if defined(PETSC_USE_COMPLEX)
  return BitsOf(a.re) == BitsOf(b.re) && BitsOf(a.im) == BitsOf(b.im);
#else
  return BitsOf(a) == BitsOf(b);
#endif
}

/// "No entry here" among stored values: one quiet NaN payload that nothing computes. A matrix entry that has these very
/// bits is stored as the neighbouring payload, another NaN, so nothing is lost (see StoredValue()).
#if defined(PETSC_USE_REAL_SINGLE)
constexpr RealBits PAD_BITS = 0x7fd5a5e1u;
#else
constexpr RealBits PAD_BITS = 0x7ffd5a5ee1e1e1e1ull;
#endif
SPARSEGPU_HD Scalar PadValue()
{
  Scalar v(0);
  SetRealPart(v, RealOf(PAD_BITS));
  return v;
}
SPARSEGPU_HD bool IsPad(const Scalar &v)
{
  return BitsOf(RealPart(v)) == PAD_BITS;
}
/// The value to store for the matrix entry v in a format that pads with PadValue().
SPARSEGPU_HD Scalar StoredValue(Scalar v)
{
  if (IsPad(v)) SetRealPart(v, RealOf(PAD_BITS ^ 1));
  return v;
}

} // namespace sparsegpu
