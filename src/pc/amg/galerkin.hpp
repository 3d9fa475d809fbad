/// Galerkin operators P^T A P of sequential matrices on the host, where P has few entries a row in runs of neighbouring
/// columns, as prolongators of smoothed aggregation have.
#pragma once

#include <petscmat.h>
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

/// Whether GalerkinOnHost() takes these.
PetscErrorCode TakesGalerkinOnHost(Mat A, Mat P, bool *takes);
/// *C = P^T A P: a new matrix of A's type that multiplies where A does, or new values of one that this made of the same
/// patterns. A P is made row by row with its values, then each row of C from the rows of A P that P^T names; so there
/// is no pass for patterns alone. O(terms) time, memory for A P. Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_WRONGSTATE where
/// *C is of other patterns.
PetscErrorCode GalerkinOnHost(Mat A, Mat P, MatReuse reuse, Mat *C);

} // namespace sparsegpu::amg
