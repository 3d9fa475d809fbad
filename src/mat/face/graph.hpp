/// MatCreateGraph() of a sequential matrix that lives on the device.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// The operation of a sequential matrix of ours that lives on the device, or the parent's again. Nothing where PETSc is
/// older than the one whose graphs ours are known to equal.
void SetCreateGraph(struct _MatOps *operations, const struct _MatOps &parent, bool on);

} // namespace sparsegpu::face
