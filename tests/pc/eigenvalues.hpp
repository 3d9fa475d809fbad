/// Eigenvalues of dense symmetric matrices, for tests of inertia.
#pragma once

#include <petscsys.h>
#include <vector>

namespace testing
{

#if !defined(PETSC_USE_COMPLEX)
/// Of a dense symmetric matrix [n x n], by cyclic Jacobi rotations: Golub & Van Loan, Matrix Computations, 8.5.
inline std::vector<PetscReal> Eigenvalues(std::vector<PetscReal> a, size_t n)
{
  constexpr int SWEEPS = 12; // convergence is quadratic at last
  for (int sweep = 0; sweep < SWEEPS; ++sweep)
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        if (a[p + q * n] == 0) continue;
        const PetscReal tau = (a[q + q * n] - a[p + p * n]) / (2 * a[p + q * n]);
        const PetscReal t   = (tau < 0 ? -1 : 1) / (PetscAbsReal(tau) + PetscSqrtReal(1 + tau * tau));
        const PetscReal c = 1 / PetscSqrtReal(1 + t * t), s = t * c;
        for (size_t k = 0; k < n; ++k) {
          const PetscReal u = a[k + p * n], v = a[k + q * n];
          a[k + p * n] = c * u - s * v;
          a[k + q * n] = s * u + c * v;
        }
        for (size_t k = 0; k < n; ++k) {
          const PetscReal u = a[p + k * n], v = a[q + k * n];
          a[p + k * n] = c * u - s * v;
          a[q + k * n] = s * u + c * v;
        }
      }
  std::vector<PetscReal> value(n);
  for (size_t k = 0; k < n; ++k) value[k] = a[k + k * n];
  return value;
}
#endif

} // namespace testing
