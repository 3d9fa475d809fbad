/// Operations after which PETSc keeps pointers into the host's values, and reads or writes through them later without
/// asking.
#pragma once

#include <petsc/private/matimpl.h>

namespace sparsegpu::face
{

/// Sets them in `operations` of a matrix of ours; the values of the matrices that they are about stay at home from then
/// on.
void SetKeepersOfArrays(struct _MatOps *operations);

} // namespace sparsegpu::face
