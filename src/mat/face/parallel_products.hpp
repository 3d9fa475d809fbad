/// Products of parallel matrices of ours with each other, on the device.
#pragma once

#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// Where D is a product of sparse matrices that are all of our parallel type and live on the device, on all ranks, sets
/// its operations to ours. *set is false for all others, which are PETSc's, and where the program or the user has named
/// one of PETSc's algorithms. Collective for such products.
PetscErrorCode MatProductSetFromOptions_SparseGPU_Parallel(Mat D, bool *set);
/// The symbolic phase of such a product, or of PETSc's where a rank lacks memory for ours.
PetscErrorCode MatProductSymbolic_SparseGPU_Parallel(Mat C);
/// Whether C is such a product, all steps of which this rank multiplies by blocks. Not collective.
PetscErrorCode MultipliesByBlocks(Mat C, bool *blocks);

} // namespace sparsegpu::face
