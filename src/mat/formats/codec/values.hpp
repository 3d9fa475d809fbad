/// Values in fewer bytes, never losing a bit: as they are; as single precision where every value converts back bit for
/// bit; as one-byte codes into a dictionary where there are at most 256 different bit patterns. Which encoding applies
/// is decided from all values, after each change. Kourtis, Goumas & Koziris, CF 2008 (CSR-VI).
#pragma once

#include <cfloat>
#include <string>
#include "device/buffer.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::formats
{

enum class ValueCodec {
  Full,
  Single,
  Dictionary
};
/// Names of the codecs, and "auto" before them: the values of -mat_sparsegpu_values.
extern const char *const ValueCodecNames[4];

#if defined(PETSC_USE_COMPLEX)
struct SingleScalar {
  float re, im;
};
SPARSEGPU_HD Scalar Widen(const SingleScalar &v)
{
  return Scalar(v.re, v.im);
}
SPARSEGPU_HD SingleScalar Narrow(const Scalar &v)
{
  return SingleScalar{static_cast<float>(v.re), static_cast<float>(v.im)};
}
#else
using SingleScalar = float;
SPARSEGPU_HD Scalar Widen(SingleScalar v)
{
  return v;
}
SPARSEGPU_HD SingleScalar Narrow(Scalar v)
{
  return static_cast<float>(v);
}
#endif

/// Whether single precision holds v but for rounding. NaN and infinity are themselves there.
SPARSEGPU_HD bool InRangeOfSingle(PetscReal v)
{
  const PetscReal size = v < 0 ? -v : v, largest = static_cast<PetscReal>(FLT_MAX);
  return !(size > largest && size - size == 0) && !(size > 0 && size < static_cast<PetscReal>(FLT_MIN));
}
SPARSEGPU_HD bool InRangeOfSingle(const Scalar *v)
{
#if defined(PETSC_USE_COMPLEX)
  return InRangeOfSingle(v->re) && InRangeOfSingle(v->im);
#else
  return InRangeOfSingle(*v);
#endif
}

/// v in single precision, PadValue() as a bit pattern that no other value becomes: IsSinglePad().
constexpr BitsFor<float> SINGLE_PAD_BITS = 0x7fd5a5e1u;
#if defined(PETSC_USE_COMPLEX)
SPARSEGPU_HD float &RealPartOf(SingleScalar &v)
{
  return v.re;
}
SPARSEGPU_HD bool IsSinglePad(const SingleScalar &v)
{
  return BitsOf(v.re) == SINGLE_PAD_BITS;
}
#else
SPARSEGPU_HD float &RealPartOf(SingleScalar &v)
{
  return v;
}
SPARSEGPU_HD bool IsSinglePad(SingleScalar v)
{
  return BitsOf(v) == SINGLE_PAD_BITS;
}
#endif
/// v in single precision; nothing but PadValue() becomes what IsSinglePad() says.
SPARSEGPU_HD SingleScalar RoundToSingle(const Scalar &v)
{
  SingleScalar single = Narrow(v);
  if (IsPad(v))
    RealPartOf(single) = RealOf<float>(SINGLE_PAD_BITS);
  else if (IsSinglePad(single))
    RealPartOf(single) = RealOf<float>(SINGLE_PAD_BITS ^ 1);
  return single;
}

/// How a kernel reads value e, one type for each codec.
struct FullValues {
  const Scalar       *a; ///< [stored]
  SPARSEGPU_HD Scalar operator[](PetscInt e) const { return a[e]; }
};
struct SingleValues {
  const SingleScalar *a; ///< [stored]
  SPARSEGPU_HD Scalar operator[](PetscInt e) const { return Widen(a[e]); }
};
struct DictionaryValues {
  static constexpr int SIZE = 256;

  const unsigned char *code;  ///< [stored] index into the dictionary
  const Scalar        *value; ///< [SIZE]
  SPARSEGPU_HD Scalar  operator[](PetscInt e) const { return value[code[e]]; }
};

struct ValueLayout {
  ValueCodec    codec;
  const void   *a;          ///< [stored] of Scalar, SingleScalar or unsigned char
  const Scalar *dictionary; ///< [DictionaryValues::SIZE], or null
};
/// Calls function(FullValues | SingleValues | DictionaryValues).
template <class Function> auto WithValues(const ValueLayout &v, Function &&function)
{
  switch (v.codec) {
  case ValueCodec::Single: return function(SingleValues{static_cast<const SingleScalar *>(v.a)});
  case ValueCodec::Dictionary: return function(DictionaryValues{static_cast<const unsigned char *>(v.a), v.dictionary});
  default: return function(FullValues{static_cast<const Scalar *>(v.a)});
  }
}

/// As long as one of these that is `wanted` lives, formats whose values lie in full multiply with them rounded to
/// single precision, which they keep beside them: the products of a preconditioner.
class ProductsInSingle
{
public:
  explicit ProductsInSingle(bool wanted) : wanted_(wanted) { depth_ += wanted_; }
  ~ProductsInSingle() { depth_ -= wanted_; }
  ProductsInSingle(const ProductsInSingle &)            = delete;
  ProductsInSingle &operator=(const ProductsInSingle &) = delete;

  static bool Any() { return depth_ > 0; }

private:
  const bool wanted_;
  static int depth_;
};

/// The codes of an array of values, where a codec applies.
class EncodedValues
{
public:
  /// Looks at `values` in `space`. Where `wanted` (a name of ValueCodecNames) or, for "auto", the narrowest codec holds
  /// them all, keeps the codes and frees the values; else keeps nothing. O(values) time; ends synchronised.
  PetscErrorCode Encode(Array<Scalar> *values, const std::string &wanted, Space space);
  ValueCodec     codec() const { return codec_; }
  /// Where the codec is Full: keeps the values rounded to single precision, too, unless one of them is too large for
  /// that or, other than zero, too small. Does so once. O(values) time; ends synchronised. Errors: PETSC_ERR_MEM.
  PetscErrorCode Round(const Array<Scalar> &values, Space space);
  /// Round() has nothing more to do.
  bool           TriedRounding() const { return tried_rounding_ || codec_ != ValueCodec::Full; }
  void           DoNotRound() { tried_rounding_ = true; }
  PetscLogDouble BytesRounded() const { return static_cast<PetscLogDouble>(rounded_.bytes()); }
  /// `full` are the values where the codec is Full; of ProductsInSingle the rounded ones, if there are any.
  ValueLayout    Layout(const Scalar *full) const;
  PetscLogDouble BytesEach() const
  {
    return codec_ == ValueCodec::Full ? sizeof(Scalar) : codec_ == ValueCodec::Single ? sizeof(SingleScalar) : 1;
  }

private:
  ValueCodec           codec_ = ValueCodec::Full;
  Array<SingleScalar>  single_;
  Array<SingleScalar>  rounded_;
  bool                 tried_rounding_ = false;
  Array<unsigned char> code_;
  Array<Scalar>        dictionary_;
};

/// Whether every value is the same after narrowing and widening. On the host; and on the device, synchronised.
PetscErrorCode AllSingle(const Scalar *a, size_t n, bool *all);
PetscErrorCode AllSingle_CUDA(const Scalar *a, size_t n, bool *all);
PetscErrorCode NarrowAll_CUDA(const Scalar *a, size_t n, SingleScalar *single);
/// single = a, rounded. *holds: none overflows or loses digits because it is too small. Synchronised.
PetscErrorCode RoundAll_CUDA(const Scalar *a, size_t n, SingleScalar *single, bool *holds);
/// The different bit patterns, ascending, if they are at most DictionaryValues::SIZE; else *found is false. Real
/// scalars only: complex ones are never found.
PetscErrorCode FindDictionary(const Scalar *a, size_t n, bool *found, std::vector<Scalar> *dictionary);
PetscErrorCode FindDictionary_CUDA(const Scalar *a, size_t n, bool *found, std::vector<Scalar> *dictionary);
/// code[e] = place of a[e] in the dictionary of `size` ascending bit patterns.
PetscErrorCode CodeAll_CUDA(const Scalar *a, size_t n, const Scalar *dictionary, int size, unsigned char *code);
/// Sets every value to *from: padding that adds no bit pattern to the dictionary.
PetscErrorCode FillFrom_CUDA(const Scalar *from, size_t n, Scalar *values);

/// Place of the bit pattern of v in `size` ascending ones that hold it.
SPARSEGPU_HD int PlaceOf(const Scalar *dictionary, int size, const Scalar &v)
{
  int low = 0, high = size; // v is in [low, high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (BitsOf(RealPart(dictionary[middle])) <= BitsOf(RealPart(v)))
      low = middle;
    else
      high = middle;
  }
  return low;
}

} // namespace sparsegpu::formats
