/// The two halves of an incomplete Cholesky factorization L D L^T, for preconditioning from both sides: L D^(1/2) and
/// D^(1/2) L^T. Each half is a pair of factors of its own, so that every engine solves with it as with any other:
/// beside L the upper factor is the diagonal D^(1/2) alone, beside D^(1/2) L^T the lower factor is the identity.
/// Between the halves unknowns are in the order of elimination, as in PETSc's MatForwardSolve() and MatBackwardSolve().
#pragma once

#include <math.h>
#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::trisolve
{

/// The root of a pivot's inverse; false if that is not real and non-negative.
SPARSEGPU_HD bool RootOf(const Scalar &inverse, PetscReal *root)
{
  const PetscReal re = RealPart(inverse);
#if defined(PETSC_USE_COMPLEX)
  const bool real = inverse.im == 0;
#else
  const bool real = true;
#endif
  *root = sizeof(PetscReal) == sizeof(float) ? static_cast<PetscReal>(sqrtf(static_cast<float>(re)))
                                             : static_cast<PetscReal>(sqrt(static_cast<double>(re)));
  return real && re >= 0;
}

class HostHalf
{
public:
  /// Of F, the factors of a symmetric matrix. O(nonzeros).
  PetscErrorCode Build(const FactorPattern &F, bool upper);
  /// values [nonzeros] of F. Errors: PETSC_ERR_SUP naming the elimination step whose pivot has no root.
  PetscErrorCode SetValues(const Scalar *values);
  const Scalar  *values() const { return values_.data(); }
  size_t Bytes() const { return pattern.Bytes() + from_.size() * sizeof(PetscInt) + values_.size() * sizeof(Scalar); }

  FactorPattern pattern;

private:
  bool                  upper_ = false;
  std::vector<PetscInt> from_; ///< [nonzeros of the half] entry of F
  std::vector<Scalar>   values_;
};

/// The same on the device.
class DeviceHalf
{
public:
  /// F's order of rows and columns must outlive this. Waits.
  PetscErrorCode Build(const FactorView &F, bool upper, Stream stream);
  /// values [nonzeros] of F, on the device. Waits. Errors as HostHalf's.
  PetscErrorCode SetValues(const Scalar *values, Stream stream);
  const Scalar  *values() const { return values_.data(); }
  size_t         Bytes() const
  {
    return i_.bytes() + j_.bytes() + diagonal_.bytes() + from_.bytes() + values_.bytes() + report_.bytes();
  }

  FactorView view = {};

private:
  bool            upper_ = false;
  Array<PetscInt> i_, j_, diagonal_;
  Array<PetscInt> from_; ///< [nonzeros of the half] entry of F
  Array<Scalar>   values_;
  Array<PetscInt> report_; ///< [1] the first step whose pivot has no root
};

/// PETSC_ERR_SUP for a step whose pivot has no root.
PetscErrorCode NoRoot(PetscInt step);

} // namespace sparsegpu::trisolve
