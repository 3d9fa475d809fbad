/// PETSc's operations on values, done where these are newest.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// The operations of a sequential matrix of ours that work on the device: ours, or the parent's again. Only a matrix
/// that lives there has them: PETSc compares the addresses of some with those of plain AIJ for its fast ways.
PetscErrorCode SetValueOperations(Mat A, bool on);
/// B, of A's pattern, gets A's values where these are on the device; *done is false where they are not.
PetscErrorCode CopyValuesThere(Mat A, Mat B, bool *done);

} // namespace sparsegpu
