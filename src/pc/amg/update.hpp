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

/// to = from: vectors of two types, one of which may be on the host.
struct CopyEntries {
  const Scalar     *from;
  Scalar           *to;
  SPARSEGPU_HD void operator()(PetscCount k) const { to[k] = from[k]; }
};

/// d = 1 / d, and 1 where d is 0, as PCJACOBI.
struct InvertDiagonal {
  Scalar           *d;
  SPARSEGPU_HD void operator()(PetscCount k) const { d[k] = Magnitude(d[k]) == 0 ? Scalar(1) : Inverse(d[k]); }
};

/// What the two steps of a K-cycle (krylov.hpp) add up, c and d their directions, v and w the images of these, t the
/// direction (conjugate gradients) or its image (conjugate residuals), b the right-hand side, r the residual after the
/// first step: t^H v and t^H b of c; v^H t, t^H w and t^H r of d.
enum StepSums {
  FIRST_SQUARE,
  FIRST_RESIDUAL,
  BOTH,
  SECOND_SQUARE,
  SECOND_RESIDUAL,
  STEP_SUMS
};

/// a / b, or 0 where b is: a direction of no use.
SPARSEGPU_HD Scalar Quotient(const Scalar &a, const Scalar &b)
{
  return Magnitude(b) == 0 ? Scalar(0) : a * Inverse(b);
}

/// r = b - alpha v, alpha the length of the first step.
struct FirstResidual {
  const Scalar     *sums, *b, *v;
  Scalar           *r;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    r[k] = b[k] + Scalar(-1) * Quotient(sums[FIRST_RESIDUAL], sums[FIRST_SQUARE]) * v[k];
  }
};

/// x, the second direction, becomes the solution of both steps: d is made conjugate to c, and the length of that step
/// is 0 where nothing but rounding is left of it.
struct CombineSteps {
  const Scalar     *sums, *c;
  Scalar           *x;
  SPARSEGPU_HD void operator()(PetscCount k) const
  {
    const Scalar part   = Quotient(sums[BOTH], sums[FIRST_SQUARE]);
    const Scalar square = sums[SECOND_SQUARE] + Scalar(-1) * Conj(sums[BOTH]) * part;
    const bool   none   = Magnitude(square) <= 100 * PETSC_MACHINE_EPSILON * Magnitude(sums[SECOND_SQUARE]);
    const Scalar first  = Quotient(sums[FIRST_RESIDUAL], sums[FIRST_SQUARE]);
    const Scalar second = none ? Scalar(0) : Quotient(sums[SECOND_RESIDUAL], square);
    x[k]                = (first + Scalar(-1) * second * part) * c[k] + second * x[k];
  }
};

/// Runs `operation` for indices below `count`; asynchronous on the device.
template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation);
template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation);

#define SPARSEGPU_FOR_CYCLE_OPERATIONS(DO) \
  DO(ChebyshevStep);                       \
  DO(SubtractFrom);                        \
  DO(CopyEntries);                         \
  DO(FirstResidual);                       \
  DO(CombineSteps);                        \
  DO(InvertDiagonal)

} // namespace sparsegpu::amg
