/// What polynomial preconditioners are asked for: -pc_sparsegpu_polynomial_*.
#pragma once

#include <petscpc.h>
#include "petsc/compat.hpp"

namespace sparsegpu::strategy
{

enum class PolynomialKind {
  Chebyshev,
  Neumann
};
extern const char *const PolynomialNames[5]; ///< as PetscOptionsEnum() takes them

struct PolynomialOptions {
  PolynomialKind kind   = PolynomialKind::Chebyshev;
  PetscInt       degree = 4;
  PetscReal      ratio  = 30;       ///< of the ends of the interval, where they are not given
  PetscReal      low = 0, high = 0; ///< ends of the interval; high 0: from an estimate

  bool operator==(const PolynomialOptions &other) const
  {
    return kind == other.kind && degree == other.degree && ratio == other.ratio && low == other.low &&
           high == other.high;
  }
  /// Between PetscOptionsHeadBegin() and its end. Errors: PETSC_ERR_ARG_OUTOFRANGE naming a negative degree, a ratio
  /// that is not above 1, or ends that are not 0 < low < high.
  PetscErrorCode Read(PC pc, SparseGPUOptionItems PetscOptionsObject);
};

} // namespace sparsegpu::strategy
