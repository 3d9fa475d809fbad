/// Options of AIJ matrices that PETSc has no call to ask for. They may have been set before a matrix became one of
/// ours, and go to duplicates and with exchanged insides, so that seeing them set is not enough: the flags themselves
/// are read, from PETSc's data, whose layout differs between versions. Their places are found at run time, on matrices
/// made for that.
#pragma once

#include <petscmat.h>

namespace sparsegpu
{

/// *keeps: A, of a type derived from SEQAIJ, has MAT_KEEP_NONZERO_PATTERN, so that MatZeroRows() leaves its pattern as
/// it is; false where this PETSc's place of the flag is not known.
PetscErrorCode KeepsPattern(Mat A, bool *keeps);
/// *ignores: A, of a type derived from MPIAIJ, has MAT_IGNORE_OFF_PROC_ENTRIES; *known: this PETSc's place of the flag
/// is.
PetscErrorCode IgnoresOthersRows(Mat A, bool *ignores, bool *known);

} // namespace sparsegpu
