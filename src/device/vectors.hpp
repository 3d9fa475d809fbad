/// In which space vectors are.
#pragma once

#include <petscvec.h>
#include "device/device.hpp"

namespace sparsegpu
{

/// Where kernels find the entries of vectors like this one, and whether vectors of its type can be laid over arrays.
/// Decided by the type, not by where the entries are: all processes must decide alike, and some may own no entry.
PetscErrorCode SpaceOf(Vec like, Space *space, bool *wraps = nullptr);

/// The preferred space of products with this vector: SpaceOf(), and for types of other packages (Kokkos) the space in
/// which PETSc says that the entries are.
PetscErrorCode ProductSpaceOf(Vec v, Space *space);

} // namespace sparsegpu
