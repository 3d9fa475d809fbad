/// Solves with one of the factors, and with the rows of a sparse matrix as right-hand sides.
#pragma once

#include <petscmat.h>

namespace sparsegpu::lu
{

/// MatForwardSolve(), MatBackwardSolve(): in the order of elimination x = L^-1 b and U^-1 b, or, for Cholesky factors
/// with positive pivots, D^-1/2 L^-1 b and L^-H D^-1/2 b, whose product is MatSolve() before its refinement. Errors:
/// PETSC_ERR_SUP saying why these factors have no such solves.
PetscErrorCode MatForwardSolve_Direct(Mat F, Vec b, Vec x);
PetscErrorCode MatBackwardSolve_Direct(Mat F, Vec b, Vec x);
/// MatMatTransposeSolve(): A X = B^T for a sequential AIJ matrix.
PetscErrorCode MatMatTransposeSolve_Direct(Mat F, Mat B, Mat X);

} // namespace sparsegpu::lu
