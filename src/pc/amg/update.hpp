/// What a cycle does to vectors between products, each in one pass: function objects of an index that both backends
/// run in any order. Bitwise reproducible.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::amg
{

/// A step of Chebyshev's method with Jacobi as preconditioner, after q = A x:
/// next = before * next + now * x + residual * d (f - q).
struct ChebyshevStep {
  PetscReal         before, now, residual;
  const Scalar     *d, *f; ///< inverse of the diagonal, right-hand side
  const Scalar     *q, *x; ///< null: x = 0
  Scalar           *next;  ///< not read where before = 0
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    Scalar sum = Scalar(residual) * d[k] * (q ? f[k] - q[k] : f[k]);
    if (x) sum += Scalar(now) * x[k];
    if (before != 0) sum += Scalar(before) * next[k];
    next[k] = sum;
  }
};

/// r = f - r, after r = A x.
struct SubtractFrom {
  const Scalar     *f;
  Scalar           *r;
  SPARSEGPU_HD void operator()(PetscCount k) const { r[k] = f[k] - r[k]; }
};

/// d = 1 / d, and 1 where d is 0, as PCJACOBI.
struct InvertDiagonal {
  Scalar           *d;
  SPARSEGPU_HD void operator()(PetscCount k) const { d[k] = Magnitude(d[k]) == 0 ? Scalar(1) : Inverse(d[k]); }
};

/// Runs `operation` for indices below `count`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_CYCLE_OPERATIONS(DO) \
  DO(ChebyshevStep);                       \
  DO(SubtractFrom);                        \
  DO(InvertDiagonal)

} // namespace sparsegpu::amg
