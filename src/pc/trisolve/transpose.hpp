/// The transposed factors, for transposed solves: (L U)^T = U^T L^T, where U^T carries the diagonal.
#pragma once

#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::trisolve
{

class TransposedFactors
{
public:
  /// F as analysed; its row and column arrays must outlive this. Waits for the device.
  PetscErrorCode Build(const FactorView &F, Stream stream);
  /// values [nonzeros] of F; asynchronous.
  PetscErrorCode  SetValues(const Scalar *values, Stream stream);
  const Scalar   *values() const { return values_.data(); }
  void            DropValues() { values_ = Array<Scalar>(); }
  const PetscInt *from() const { return from_.data(); } ///< [nonzeros] entry of F
  size_t Bytes() const { return i_.bytes() + j_.bytes() + diagonal_.bytes() + from_.bytes() + values_.bytes(); }

  FactorView view = {};

private:
  Array<PetscInt> i_, j_, diagonal_;
  Array<PetscInt> from_; ///< [nonzeros] entry of F
  Array<Scalar>   values_;
};

} // namespace sparsegpu::trisolve
