/// What the kernels of several right-hand sides have in common.
#pragma once

#include "ksp/cg/many_arrays.hpp"

namespace sparsegpu::cg
{

/// The norm that c.norm asks for, from (r, z) and the sum of squares.
__device__ __forceinline__ PetscReal norm_of(const ManyControl &c, PetscReal rho, PetscReal square)
{
  return SquareRoot(c.norm != Norm::Natural ? square : rho < 0 ? -rho : rho);
}

/// Whether this norm after iteration `number` ends the solve of a slot.
__device__ __forceinline__ bool stops_by(const ManyControl &c, int slot, PetscInt number, PetscReal norm)
{
  const bool tested = number + 1 >= c.tested_from;

  return !Finite(norm) || (tested && (norm <= c.converged[slot] || norm >= c.diverged[slot]));
}

} // namespace sparsegpu::cg
