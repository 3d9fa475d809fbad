/// PETSc's point-block Jacobi preconditioners for matrices of ours on a GPU.
#pragma once

#include <petscsys.h>

namespace sparsegpu::blocks
{

/// PCPBJACOBI and PCVPBJACOBI stay PETSc's, but where a matrix of ours multiplies on the device its blocks are factored
/// and applied there. Neither the matrix's values nor vectors go to the host then.
PetscErrorCode RegisterPointBlocks();

} // namespace sparsegpu::blocks
