/// Stand-ins for the matrices that T. Liang's thesis (HUST 2012, tables 4.2 and 4.3) was measured with.
#pragma once

#include <string>
#include <vector>

#include <petscmat.h>

#include "petsc/compat.hpp"

struct ThesisMatrix {
  const char *name;
  PetscInt    rows;
  PetscInt64  nonzeros; ///< of the full matrix; the thesis counts one triangle of some
  PetscInt    reach;    ///< of the surrogate: columns lie at most so far from the diagonal, round the corner
  bool        symmetric, jacobi, gmres; ///< which solvers the thesis measured with it
};
extern const std::vector<ThesisMatrix> ThesisMatrices;

/// A matrix with as many rows and entries: random places within `reach` of the diagonal, negative entries of full
/// mantissa, a diagonal a fiftieth larger than the others of its row together, so that Jacobi's method converges.
/// Collective; rank 0 makes it.
PetscErrorCode CreateSurrogate(MPI_Comm comm, const ThesisMatrix &original, Mat *A);
