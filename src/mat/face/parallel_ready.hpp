/// What all ranks agree on before a product of a parallel matrix.
#pragma once

#include "mat/face/context.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::face
{

/// Makes A ready for z = op(A) x, in *space: conversions, ghosts, memory. x and z null: where products are planned.
/// Collective; an error of one rank is one of all of them.
PetscErrorCode Prepare(Mat A, Operation operation, Vec x, Vec z, Context **context, Space *space);

/// The blocks that a product z = A x multiplies, ready for it; their formats where it runs on the device, without a
/// channel where ranks do not reach each other's memory. Collective, as Prepare() is: a product by MatMult() on other
/// ranks answers it.
PetscErrorCode GetBlocksForProduct(Mat A, Vec x, Vec z, BlocksForSolve *blocks);

} // namespace sparsegpu::face
