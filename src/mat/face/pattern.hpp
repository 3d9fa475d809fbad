/// The pattern of a sequential matrix of ours, from arrays that were computed on the device.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"

namespace sparsegpu::face
{

/// The pattern of A, of a sequential type of ours and of sizes that are set, is i [rows + 1], j [nonzeros] from now on,
/// columns ascending in each row. The arrays lie in `space`, which is the host's in tests alone; on the device A's Rows
/// keep them, and the host gets a copy. The values are zero afterwards: on the device alone where they may be newest
/// there, else on the host. A can be read and multiplied with, of options that MatSeqAIJSetPreallocation() leaves; to
/// PETSc no values have been assembled yet, so that MAT_SYMMETRIC and its like hold for the first that are. O(nonzeros)
/// host time for the copy, for what AIJ's assembly reads and for zeros on the host. Errors: PETSC_ERR_MEM; the pattern
/// is undefined then.
PetscErrorCode TakePattern(Mat A, Array<PetscInt> &&i, Array<PetscInt> &&j, Space space);

} // namespace sparsegpu::face
