/// The phases of a direct factorization that look at the values of a Mat. Failures are soft, as in PETSc's own
/// factorizations: `MatFactorGetError()` reports them, and new values may succeed.
#pragma once

#include <petscmat.h>
#include "pc/lu/direct.hpp"

namespace sparsegpu::lu
{

/// What F->data is.
DirectFactor *DirectOf(Mat F);
/// What MatGetInfo() tells of F.
void TakeInfo(Mat F);
/// As PETSc keeps it, in a number.
MatFactorShiftType ShiftOf(const MatFactorInfo *info);
/// For either kind; `row` and `column` are the order of elimination. Errors: PETSC_ERR_MAT_LU_ZRPVT naming a column
/// that no row is left for, where failures are errors (MatSetErrorIfFailure()).
PetscErrorCode MatFactorSymbolic_Direct(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind);
/// For either kind. Errors: PETSC_ERR_MAT_LU_ZRPVT where failures are errors; PETSC_ERR_SUP naming a shift type.
PetscErrorCode MatFactorNumeric_Direct(Mat F, Mat A, const MatFactorInfo *info);

} // namespace sparsegpu::lu
