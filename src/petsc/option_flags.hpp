/// MAT_KEEP_NONZERO_PATTERN of a sequential AIJ matrix: whether MatZeroRows() leaves its pattern as it is. PETSc has no
/// call that tells. The option may have been set before a matrix became one of ours, and goes to duplicates and with
/// exchanged insides, so that seeing it set is not enough: the flag itself is read, from PETSc's data, whose layout
/// differs between versions. Its place is found at run time, on a matrix made for that.
#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// *keeps: A, of a type derived from SEQAIJ, has the option; false where this PETSc's place of it is not known.
PetscErrorCode KeepsPattern(Mat A, bool *keeps);

} // namespace sparsegpu
