/// Iterative refinement of the columns of a block together: a residual and a correction are taken of all columns that
/// still gain by it, so that the device is waited for once a step. Skeel, Math. Comp. 35(151), 1980: a step or two in
/// the working precision.
#pragma once

#include "pc/lu/engine.hpp"

namespace sparsegpu::lu
{

/// Right-hand sides and solutions [rows x columns] in the engine's space, which has Room() for them.
struct LuBlock {
  PetscInt      columns;
  const Scalar *b;
  PetscInt      ldb;
  Scalar       *x;
  PetscInt      ldx;
  bool          transpose;
};
struct RefineLimits {
  PetscReal goal     = 0;     ///< backward error of a solved system
  PetscInt  steps    = 0;     ///< at most, before GMRES
  bool      thorough = false; ///< residuals have to be small against b, too, and GMRES goes on as long as it gains
};

/// Improves x, solutions of A x = b or A^T x = b; columns above the goal by GMRES, one by one. No column gets worse,
/// and none depends on the others' values. size [columns]: the residuals afterwards. *steps: those of the column that
/// took most.
PetscErrorCode RefineColumns(LuEngine *engine, PetscInt rows, const LuBlock &block, const RefineLimits &limits,
                             PetscInt *steps, ResidualSize *size);

} // namespace sparsegpu::lu
