/// The arithmetic of a sweep, the same on the host and in a kernel.
#pragma once

#include "ksp/sweep/sweep.hpp"

namespace sparsegpu::sweep
{

/// Two shares of the norm, or of its square, become one. NaN wins.
SPARSEGPU_HD PetscReal joined(JacobiNorm norm, PetscReal a, PetscReal b)
{
  if (norm != JacobiNorm::Difference) return a + b;
  return b > a || b != b ? b : a;
}

/// Writes next[r] and returns its share of the norm; `product` is that of row r with x.
SPARSEGPU_HD PetscReal jacobi_row(const JacobiSweep &sweep, PetscInt r, const Scalar &product)
{
  if (!sweep.b) {
    sweep.next[r] = sweep.inverse[r] * product;
    return 0;
  }
  const Scalar residual = sweep.b[r] - product, z = sweep.inverse[r] * residual;
  const Scalar step = Scalar(sweep.damping) * z;

  sweep.next[r] = sweep.x[r] + step;
  switch (sweep.norm) {
  case JacobiNorm::Preconditioned: return RealPart(Conj(z) * z);
  case JacobiNorm::Unpreconditioned: return RealPart(Conj(residual) * residual);
  case JacobiNorm::Difference: return Magnitude(step);
  default: return 0;
  }
}

} // namespace sparsegpu::sweep
