/// The solvers of this library.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

/// KSPRegister() of KSPSPARSEGPUBCGS, KSPSPARSEGPUCG, KSPSPARSEGPUGMRES and KSPSPARSEGPUJACOBI.
PetscErrorCode RegisterSolvers();

} // namespace sparsegpu::ksp
