/// Entries that are dropped for their values, on the device.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// MatEliminateZeros(), which PETSc has from 3.20 on: ours, or the parent's again.
void SetEliminateZeros(struct _MatOps *operations, const struct _MatOps &parent, bool parallel, bool on);

} // namespace sparsegpu::face
