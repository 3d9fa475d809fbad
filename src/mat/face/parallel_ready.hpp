/// What all ranks agree on before a product of a parallel matrix.
#pragma once

#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// Makes A ready for z = op(A) x, in *space: conversions, ghosts, memory. x and z null: where products are planned.
/// Collective; an error of one rank is one of all of them.
PetscErrorCode Prepare(Mat A, Operation operation, Vec x, Vec z, Context **context, Space *space);

} // namespace sparsegpu::face
