/// What every product must give, by one plain loop over triplets, with the rounding error that two summation orders may
/// differ by. Shares no code with src/.
#pragma once

#include "matrices.hpp"

#include <cmath>

namespace oracle
{

enum class Op {
  Plain,
  Transpose,
  Hermitian
};
inline const char *Name(Op op)
{
  return op == Op::Plain ? "" : op == Op::Transpose ? "Transpose" : "HermitianTranspose";
}

struct Expected {
  PetscScalar value;
  PetscReal   bound;    ///< |computed - value| may not exceed it
  bool        poisoned; ///< an Inf or NaN takes part: the result must show it, and only then
};

inline bool Finite(PetscScalar v)
{
  return std::isfinite(PetscRealPart(v)) && std::isfinite(PetscImaginaryPart(v));
}

/// op(A) x + z, z empty for none. x [cols], z and the result [rows] of op(A); O(entries).
///
/// The bound: a sum of n products in any order errs by at most (n + 2) u sum |a||x| to first order in u = eps / 2, the
/// 2 covering a complex product (Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and 3.6), z being one more
/// term. Two such sums differ by (n + 3) eps sum at most; twice n + 2 leaves room for the terms of second order.
inline std::vector<Expected> Product(const conformance::Problem &A, Op op, const std::vector<PetscScalar> &x,
                                     const std::vector<PetscScalar> &z)
{
  const size_t           rows = (size_t)(op == Op::Plain ? A.rows : A.cols);
  std::vector<Expected>  y(rows, Expected{0, 0, false});
  std::vector<PetscReal> length(rows, 0), sum(rows, 0);

  for (size_t i = 0; i < z.size(); ++i) {
    y[i]      = Expected{z[i], 0, !Finite(z[i])};
    sum[i]    = PetscAbsScalar(z[i]);
    length[i] = 1;
  }
  for (const conformance::Entry &e : A.entries) {
    const size_t      r = (size_t)(op == Op::Plain ? e.i : e.j), c = (size_t)(op == Op::Plain ? e.j : e.i);
    const PetscScalar a = op == Op::Hermitian ? PetscConj(e.v) : e.v;
    y[r].value += a * x[c];
    y[r].poisoned |= !Finite(a) || !Finite(x[c]);
    sum[r] += PetscAbsScalar(a) * PetscAbsScalar(x[c]);
    length[r] += 1;
  }
  for (size_t i = 0; i < rows; ++i) y[i].bound = 2 * (length[i] + 2) * PETSC_MACHINE_EPSILON * sum[i];
  return y;
}

/// Empty if `computed` is right, else what is wrong with it.
inline std::string Fault(PetscScalar computed, const Expected &e)
{
  if (e.poisoned) {
    if (Finite(computed)) return "finite where Inf or NaN takes part";
#if !defined(PETSC_USE_COMPLEX) // which of Inf and NaN comes out is unique for reals only
    if (std::isnan(computed) != std::isnan(e.value)) return "Inf and NaN mistaken for each other";
    if (!std::isnan(computed) && computed != e.value) return "Inf of the wrong sign";
#endif
    return "";
  }
  if (!Finite(computed)) return "Inf or NaN leaked in";
  if (PetscAbsScalar(computed - e.value) <= e.bound) return "";
  char text[256];
  snprintf(text, sizeof(text), "got %.17g%+.17gi, expected %.17g%+.17gi, error %g > %g",
           (double)PetscRealPart(computed), (double)PetscImaginaryPart(computed), (double)PetscRealPart(e.value),
           (double)PetscImaginaryPart(e.value), (double)PetscAbsScalar(computed - e.value), (double)e.bound);
  return text;
}

} // namespace oracle
