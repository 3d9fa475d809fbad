/// What products must give, by plain host loops over the entries of an AIJ matrix, in long double. Shares no code with
/// src/.
#pragma once

#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include <petscmat.h>

#include "petsc/compat.hpp"

#if defined(PETSC_USE_COMPLEX)
using Wide = std::complex<long double>;
#else
using Wide = long double;
#endif

/// The local entries of one product and how far a product in PetscScalar may be from them.
struct Expected {
  std::vector<Wide>        value; ///< [local size]
  std::vector<long double> bound; ///< [local size]
};

/// Products with random vectors: x and addend for rows, u and addend for columns.
struct Oracle {
  Expected       mult, mult_add, transpose, transpose_add;
  PetscLogDouble nonzeros = 0; ///< of the whole matrix, as are these:
  PetscInt       rows = 0, cols = 0, shortest = 0, longest = 0;
};

/// The random vectors, each entry a function of its index alone: the same on any number of ranks.
enum class Random {
  X,
  U,
  RowAddend,
  ColumnAddend
};

/// Computes all products of the AIJ matrix A; O(nonzeros + columns) host time. Collective.
PetscErrorCode BuildOracle(Mat A, Oracle *oracle);

/// Sets every entry of v, a vector of any type, from `which`.
PetscErrorCode FillRandom(Vec v, Random which);

/// Sets every entry of v to NaN: a product that leaves entries alone or reads its output shows.
PetscErrorCode Poison(Vec v);

/// Sets `worst` to the largest |v - expected| / bound, infinite where v is not finite; `worst` <= 1 is right.
/// Collective.
PetscErrorCode WorstError(Vec v, const Expected &expected, double *worst);
