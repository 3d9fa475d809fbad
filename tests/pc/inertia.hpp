/// The inertia of a factor against a dense matrix's eigenvalues.
#pragma once

#include "direct.hpp"
#include "eigenvalues.hpp"

namespace testing
{

#if !defined(PETSC_USE_COMPLEX)
/// How many eigenvalues of p are below zero; none may be closer to it than `safe`.
inline PetscErrorCode CountNegative(const Problem &p, PetscReal safe, PetscInt *negative)
{
  std::vector<PetscReal> dense((size_t)(p.rows * p.rows), 0);

  PetscFunctionBeginUser;
  *negative = 0;
  for (const Entry &e : p.entries) dense[(size_t)(e.i + e.j * p.rows)] += e.v;
  for (const PetscReal v : Eigenvalues(dense, (size_t)p.rows)) {
    PetscCheck(PetscAbsReal(v) > safe, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: eigenvalue %g has no sign", p.name.c_str(),
               (double)v);
    *negative += v < 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of p, which is not singular.
inline PetscErrorCode CheckInertia(Mat F, const Problem &p, PetscInt expected, const std::string &what)
{
  PetscInt negative, zero, positive;

  PetscFunctionBeginUser;
  PetscCall(MatGetInertia(F, &negative, &zero, &positive));
  PetscCheck(negative == expected && zero == 0 && positive == p.rows - expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: inertia %d %d %d, %d are negative", what.c_str(), (int)negative, (int)zero, (int)positive,
             (int)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace testing
