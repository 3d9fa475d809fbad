/// The residual of a solution.
#pragma once

#include <petscmat.h>

/// *relative = |b - A x| / |b|
inline PetscErrorCode RelativeResidual(Mat A, Vec b, Vec x, PetscReal *relative)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
