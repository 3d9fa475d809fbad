/// The values of factors as an engine keeps them: the caller's array, or a copy of it in single precision. Arithmetic
/// is that of Scalar.
#pragma once

#include <float.h>
#include "mat/formats/codec/values.hpp"
#include "pc/trisolve/names.hpp"

namespace sparsegpu::trisolve
{

/// What is finite must stay so.
SPARSEGPU_HD bool TooLarge(const Scalar &v)
{
  const PetscReal size = LargestPart(v);
  return size > static_cast<PetscReal>(FLT_MAX) && size <= PETSC_MAX_REAL;
}
/// What is not zero must stay so where it is a pivot's inverse.
SPARSEGPU_HD bool Vanishes(const Scalar &v)
{
  return LargestPart(v) != 0 && LargestPart(Widen(Narrow(v))) == 0;
}

class KeptValues
{
public:
  /// values [count] in `space`, which must outlive this unless `single`. Asynchronous on the device.
  PetscErrorCode Set(const Scalar *values, PetscCount count, bool single, Space space, Stream stream);
  /// function(FullValues | SingleValues), whose error is returned.
  template <class Function> PetscErrorCode With(const Function &function) const
  {
    PetscFunctionBegin;
    if (single_.size() > 0)
      PetscCall(function(SingleValues{single_.data()}));
    else
      PetscCall(function(FullValues{full_}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// values [count] = the copy, in its space. Asynchronous on the device.
  PetscErrorCode Widened(Array<Scalar> *values, Stream stream) const;
  bool           IsSingle() const { return single_.size() > 0; }
  size_t         Bytes() const { return single_.bytes(); }

private:
  const Scalar       *full_ = nullptr;
  Array<SingleScalar> single_;
};

/// Whether one of values [count] is too large for single precision, or one of those at diagonal [rows] rounds to zero.
/// Waits for the device.
PetscErrorCode RoundingLoses(const Scalar *values, PetscCount count, const PetscInt *diagonal, PetscInt rows,
                             Space space, bool *loses);

// On the device.
PetscErrorCode RoundingLoses_CUDA(const Scalar *values, PetscCount count, const PetscInt *diagonal, PetscInt rows,
                                  int *loses, Stream stream);
/// to[k] = from[k] rounded, or as it is, for k < count. Asynchronous.
PetscErrorCode Round_CUDA(PetscCount count, const Scalar *from, SingleScalar *to, Stream stream);
PetscErrorCode Widen_CUDA(PetscCount count, const SingleScalar *from, Scalar *to, Stream stream);

} // namespace sparsegpu::trisolve
