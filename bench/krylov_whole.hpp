/// Whole solves, from the assembled matrix to the solution, and the type of matrix that ours is compared with.
#pragma once

#include <petscksp.h>
#include <vector>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

/// PETSc's type: aijcusparse where there is a GPU, else aij.
inline PetscErrorCode NativeType(MatType *type)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(SparseGPUHasDevice(&device));
  *type = MATSEQAIJ;
#if defined(PETSC_HAVE_CUDA)
  if (device) *type = MATSEQAIJCUSPARSE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A solver, and what was measured of it for each tolerance.
struct WholeSolver {
  MatType     matrix;
  KSPType     type;
  const char *basis; ///< of ours of GMRES; null: as by default
  bool        right; ///< preconditioned from the right: GMRES has the norm of the residual there alone
  int         kept;  ///< vectors that restarts of ours of GMRES keep

  struct Found {
    PetscReal           rtol;
    std::vector<double> seconds;
    PetscReal           residual   = 0; ///< |b - A x| / |b|
    PetscInt            iterations = 0;
  };
  std::vector<Found> found;
};

/// Restarts of GMRES that keep something: PETSc's on `native`, ours on `ours`. Throws what std::vector does.
void AddDeflated(MatType native, MatType ours, std::vector<WholeSolver> *solvers);

/// Solves with `plain` as a matrix of each solver's type, b = 1, to rtol [tolerances], the solvers by turns: the
/// seconds of KSPSetUp() and KSPSolve(), copies and conversions for a matrix that has not been multiplied yet among
/// them. With `values_there` each type has one matrix from coordinates, and the time begins with MatSetValuesCOO(),
/// whose values are where the vectors of the type are: that of a program that computes new values on the device. One
/// table: medians of `repeat` and, by tolerance, ratios to the first solver's.
PetscErrorCode MeasureWhole(Mat plain, bool values_there, PetscInt repeat, const PetscReal *rtol, PetscInt tolerances,
                            std::vector<WholeSolver> *solvers);
