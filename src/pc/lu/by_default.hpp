/// LU and Cholesky factorizations of matrices whose user has named no solver.
#pragma once

#include <petscmat.h>
#include "pc/lu/names.hpp"

namespace sparsegpu::lu
{

/// Whether ours is the default for A: it multiplies on a GPU, and has so many rows, and entries in them, that PETSc's
/// factorization, on one core of the host, takes longer. Not collective.
PetscErrorCode TakesByDefault(Mat A, bool *takes);
/// F, new and ours, has been made by default: where PETSc's own can do what ours cannot, shifts of pivots and systems
/// whose factors the device's memory does not hold, F becomes that, unless Schur variables have been named.
PetscErrorCode MayGiveWay(Mat F);

} // namespace sparsegpu::lu
