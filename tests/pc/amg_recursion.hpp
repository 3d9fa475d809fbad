/// K-cycles by the smoothers and operators of a PCMG, for comparison.
#pragma once

#include <petscksp.h>

namespace amg_tests
{

/// A K-cycle of the levels of a PCMG, by its smoothers and operators.
struct Recursion {
  PC   pc;
  bool hermitian;

  PetscErrorCode Visit(PetscInt l, Vec b, Vec x) const;
  PetscErrorCode Solve(PetscInt l, Vec b, Vec x) const;
};

/// x = B b: smooths, corrects, smooths.
inline PetscErrorCode Recursion::Visit(PetscInt l, Vec b, Vec x) const
{
  KSP smoother;
  Mat A, P;
  Vec r, coarse, correction;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(pc, l, &smoother));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(smoother, b, x));
  if (l == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(smoother, &A, nullptr));
  PetscCall(PCMGGetInterpolation(pc, l, &P));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatCreateVecs(P, &coarse, nullptr));
  PetscCall(VecDuplicate(coarse, &correction));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(MatMultTranspose(P, r, coarse));
  PetscCall(l == 1 ? Visit(0, coarse, correction) : Solve(l - 1, coarse, correction));
  PetscCall(MatMultAdd(P, correction, x, x));
  PetscCall(KSPSolve(smoother, b, x)); // from x
  for (Vec *v : {&r, &coarse, &correction}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x: of the span of two directions the one that leaves a residual orthogonal to it, or a residual of least norm.
inline PetscErrorCode Recursion::Solve(PetscInt l, Vec b, Vec x) const
{
  KSP         smoother;
  Mat         A;
  Vec         c[2], image[2], r;
  PetscScalar g[2][2], h[2];

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(pc, l, &smoother));
  PetscCall(KSPGetOperators(smoother, &A, nullptr));
  PetscCall(VecDuplicate(b, &r));
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecDuplicate(b, &c[k]));
    PetscCall(VecDuplicate(b, &image[k]));
  }
  Vec *const tested = hermitian ? c : image;
  PetscCall(VecCopy(b, r));
  for (int k = 0; k < 2; ++k) {
    PetscCall(Visit(l, r, c[k]));
    PetscCall(MatMult(A, c[k], image[k]));
    PetscCall(VecDot(image[0], tested[0], &g[0][0]));
    PetscCall(VecDot(b, tested[0], &h[0]));
    if (k == 0) PetscCall(VecAXPY(r, -h[0] / g[0][0], image[0]));
  }
  PetscCall(VecDot(image[1], tested[0], &g[0][1]));
  PetscCall(VecDot(image[0], tested[1], &g[1][0]));
  PetscCall(VecDot(image[1], tested[1], &g[1][1]));
  PetscCall(VecDot(b, tested[1], &h[1]));
  const PetscScalar determinant = g[0][0] * g[1][1] - g[0][1] * g[1][0];
  PetscCall(VecSet(x, 0));
  PetscCall(VecAXPY(x, (h[0] * g[1][1] - g[0][1] * h[1]) / determinant, c[0]));
  PetscCall(VecAXPY(x, (g[0][0] * h[1] - g[1][0] * h[0]) / determinant, c[1]));
  for (Vec *v : {&r, &c[0], &c[1], &image[0], &image[1]}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace amg_tests
