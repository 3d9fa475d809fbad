/// Products of sequential matrices of ours with each other, on the device.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Where D is a product of sparse matrices that are all of our sequential type and live on the device, sets its
/// operations to ours. *set is false for all others, which are PETSc's.
PetscErrorCode MatProductSetFromOptions_SparseGPU_Sparse(Mat D, bool *set);

} // namespace sparsegpu::face
