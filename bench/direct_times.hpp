/// What bench/direct measures.
#pragma once

#include <petscksp.h>
#include <string>
#include <vector>

struct Settings {
  PetscInt                 runs = 5, columns = 0, firsts = 1;
  PetscReal                most   = 60;
  PetscBool                hybrid = PETSC_FALSE; ///< of cudss
  std::vector<std::string> solvers;
};
struct Times { ///< seconds, medians; negative: not measured
  double first = -1, refactor = -1, solve = -1, many = -1, error = -1, mb = -1;
  double Again() const { return refactor + solve; }
};

/// ||b - A x|| / (||A|| ||x|| + ||b||), maximum norms, on the host.
PetscErrorCode BackwardError(Mat A, Vec b, Vec x, double *error);
/// One of PETSc's solvers, or ours.
PetscErrorCode TimePetsc(Mat host, const std::string &solver, const Settings &settings, Times *times);
/// Solvers that are not PETSc's: cusolverrf, cudss.
bool           HasOutside(const std::string &solver);
PetscErrorCode TimeOutside(Mat A, const std::string &solver, const Settings &settings, Times *times);
