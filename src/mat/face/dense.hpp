/// Products of a sequential matrix of ours, or its transpose, with a dense matrix.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Where D's product is such a one, A B or A^T B with B of MATSEQDENSE or MATSEQDENSECUDA, sets its operations to ours.
/// *set is false for all others.
PetscErrorCode MatProductSetFromOptions_SparseGPU_Dense(Mat D, bool *set);

} // namespace sparsegpu::face
