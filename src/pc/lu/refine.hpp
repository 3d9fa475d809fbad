/// Refinement of a solution by GMRES, from the right, with the factors as they are: a few replaced pivots are a change
/// of low rank, which as many steps undo where plain refinement stagnates or diverges. Residuals are measured in the
/// factors' scaling, in which rows have entries of one size, and as they are where that stagnates: the backward error
/// sees them so. Saad & Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986;
/// Arioli & Duff, "Using FGMRES to obtain backward stability in mixed precision", ETNA 33, 2009.
#pragma once

#include "pc/lu/engine.hpp"

namespace sparsegpu::lu
{

/// Improves x [rows], a solution of A x = b or A^T x = b in the engine's space, until its backward error is at most
/// `goal` or two cycles of LU_BASIS - 2 steps at most take less than a tenth of it each. *size in and out: the residual
/// of x; x never gets worse. *steps is raised by the solves with the factors. Allocates LU_BASIS vectors of the matrix,
/// once an analysis.
PetscErrorCode RefineByGmres(LuEngine *engine, PetscInt rows, const Scalar *b, Scalar *x, bool transpose,
                             PetscReal goal, PetscInt *steps, ResidualSize *size);

} // namespace sparsegpu::lu
