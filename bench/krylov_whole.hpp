/// Whole solves, from the assembled matrix to the solution.
#pragma once

#include <petscksp.h>
#include <algorithm>
#include <vector>

/// A solver, and what was measured of it for each tolerance.
struct WholeSolver {
  MatType     matrix;
  KSPType     type;
  const char *basis; ///< of GMRES; null: as by default

  struct Found {
    PetscReal           rtol;
    std::vector<double> seconds;
    PetscReal           residual   = 0; ///< |b - A x| / |b|
    PetscInt            iterations = 0;
  };
  std::vector<Found> found;
};

/// Solves with `plain` as a matrix of the solver's type, b = 1, to found[k].rtol: the seconds of KSPSetUp() and
/// KSPSolve(), copies and conversions for a matrix that has not been multiplied yet among them; `keep`: they are kept.
PetscErrorCode SolveWhole(Mat plain, bool keep, WholeSolver *solver, size_t k);
/// Medians, and ratios to the first solver's, of solvers that took turns.
PetscErrorCode ReportWhole(const std::vector<WholeSolver> &solvers);
