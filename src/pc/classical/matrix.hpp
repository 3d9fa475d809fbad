/// A matrix from rows that were computed in one space.
#pragma once

#include <petscmat.h>
#include "pc/classical/truncation.hpp"

namespace sparsegpu::classical
{

/// *P [rows of A x columns, `columns` of them of this process], a new matrix of the type of A that lives where A does,
/// with these rows in `space`, whose columns are numbers in the matrix. Collective. Errors: PETSC_ERR_MEM.
PetscErrorCode CreateFromRows(Mat A, Space space, PetscInt columns, OwnedRows &&rows, Mat *P, PetscInt row_block = 1,
                              PetscInt column_block = 1);

/// The values of such a matrix on several processes, of our type, become those of other rows of the same pattern. Not
/// collective. Errors: PETSC_ERR_MEM.
PetscErrorCode SetFromRows(Space space, const OwnedRows &rows, Mat P);

} // namespace sparsegpu::classical
