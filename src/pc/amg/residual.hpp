/// The residual of a level.
#pragma once

#include "mat/face/solver_access.hpp"
#include "pc/amg/arrays.hpp"

namespace sparsegpu::amg
{

/// r = b - A x: one kernel, or a product and an update.
inline PetscErrorCode Residual(Mat A, Vec b, Vec x, Vec r)
{
  const Vec rhs[1] = {b};
  bool      done;

  PetscFunctionBegin;
  PetscCall(face::MultStep(A, {0, 0, 1}, nullptr, b, x, r, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(A, x, r));
  PetscCall(Update(rhs, r, Access::ReadWrite, [](const Scalar *const *f, Scalar *to) {
    return SubtractFrom{f[0], to};
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
