/// The inertia of a matrix from its symmetric factors.
#pragma once

#include <petscmat.h>

namespace sparsegpu::lu
{

#if !defined(PETSC_USE_COMPLEX)
/// MatGetInertia(); each of the numbers may be null. Errors: PETSC_ERR_SUP saying why the inertia is not known.
PetscErrorCode MatGetInertia_Direct(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive);
#endif

} // namespace sparsegpu::lu
