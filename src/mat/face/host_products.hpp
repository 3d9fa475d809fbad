/// Products of matrices that PETSc computes: it reads operands and writes results without an accessor.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// The values of D's operands, and of D, stay on the host from now on.
PetscErrorCode OperandsStayHome(Mat D);
/// PETSc has set D->ops->productsymbolic. That, and the numeric phase, are called with all values at home, those of
/// operands that have been replaced meanwhile, too; nothing leaves within them.
PetscErrorCode ComputeAtHome(Mat D);
/// D's product is set up and computed as for a new result, by whomever its operands now ask for.
PetscErrorCode SetUpAnew(Mat D);
/// The symbolic phase of D's product is PETSc's, for one that the device has no room for. Operands are of our type.
PetscErrorCode LeaveProductToHost(Mat D, bool parallel);

} // namespace sparsegpu::face
