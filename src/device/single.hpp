/// Scalar in single precision, for what is kept and computed in less than PETSc's precision: a float, or two. Where
/// PETSc's own precision is single it is Scalar. Functions of it are those of Scalar.
#pragma once

#include <limits>
#include <type_traits>
#include "device/scalar.hpp"

namespace sparsegpu
{

#if defined(PETSC_USE_REAL_SINGLE)
using Single = Scalar;
#elif defined(PETSC_USE_COMPLEX)
struct Single {
  float re, im;

  Single() = default;
  SPARSEGPU_HD constexpr Single(float r, float i = 0) : re(r), im(i) {}
  SPARSEGPU_HD Single &operator+=(const Single &b)
  {
    re += b.re;
    im += b.im;
    return *this;
  }
};
SPARSEGPU_HD Single operator+(const Single &a, const Single &b)
{
  return Single(a.re + b.re, a.im + b.im);
}
SPARSEGPU_HD Single operator-(const Single &a, const Single &b)
{
  return Single(a.re - b.re, a.im - b.im);
}
SPARSEGPU_HD Single operator*(const Single &a, const Single &b)
{
  return Single(SumOfProducts(a.re, b.re, -a.im, b.im), SumOfProducts(a.re, b.im, a.im, b.re));
}
SPARSEGPU_HD Single Conj(const Single &a)
{
  return Single(a.re, -a.im);
}
/// Squares of parts below 1e-19 or above 1e19 leave the range.
SPARSEGPU_HD Single Inverse(const Single &a)
{
  const double re = a.re, im = a.im, square = re * re + im * im;
  return Single(static_cast<float>(re / square), static_cast<float>(-im / square));
}
SPARSEGPU_HD float Magnitude(const Single &a)
{
  return hypotf(a.re, a.im);
}
SPARSEGPU_HD float RealPart(const Single &a)
{
  return a.re;
}
SPARSEGPU_HD float LargestPart(const Single &a)
{
  const float re = a.re < 0 ? -a.re : a.re, im = a.im < 0 ? -a.im : a.im;
  return re > im ? re : im;
}
#else
using Single = float;
SPARSEGPU_HD Single Conj(const Single &a)
{
  return a;
}
SPARSEGPU_HD Single Inverse(const Single &a)
{
  return 1 / a;
}
SPARSEGPU_HD Single Magnitude(const Single &a)
{
  return a < 0 ? -a : a;
}
SPARSEGPU_HD Single RealPart(const Single &a)
{
  return a;
}
SPARSEGPU_HD Single LargestPart(const Single &a)
{
  return Magnitude(a);
}
#endif

/// Whether Single is another type than Scalar.
constexpr bool HAVE_SINGLE = !std::is_same<Single, Scalar>::value;

/// The real type of S, Scalar or Single.
template <class S> using RealOfScalar = decltype(RealPart(S()));

/// The machine epsilon of S.
template <class S> constexpr PetscReal EpsilonOf()
{
  return static_cast<PetscReal>(std::numeric_limits<RealOfScalar<S>>::epsilon());
}

/// v in the precision of S, Scalar or Single; beyond its range infinite.
template <class S> SPARSEGPU_HD S Rounded(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return S(static_cast<RealOfScalar<S>>(v.re), static_cast<RealOfScalar<S>>(v.im));
#else
  return static_cast<S>(v);
#endif
}
/// v in full precision.
template <class S> SPARSEGPU_HD Scalar Widened(const S &v)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(static_cast<PetscReal>(v.re), static_cast<PetscReal>(v.im));
#else
  return static_cast<Scalar>(v);
#endif
}
/// A real number as S.
template <class S> SPARSEGPU_HD S FromReal(PetscReal v)
{
  return S(static_cast<RealOfScalar<S>>(v));
}

} // namespace sparsegpu
