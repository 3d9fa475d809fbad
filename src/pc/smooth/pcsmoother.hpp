/// The preconditioner PCSPARSEGPUSMOOTHER, and what multigrid asks of it.
#pragma once

#include <petscpc.h>
#include "pc/smooth/smoother.hpp"

namespace sparsegpu::smooth
{

/// PCRegister() of PCSPARSEGPUSMOOTHER.
PetscErrorCode RegisterSmoother();

/// What it does unless options say otherwise; for one that has not been set up.
PetscErrorCode ConfigureSmoother(PC pc, Kind kind, Direction direction);
/// `pc` uses the colours and the diagonal of `other`, where that is of the same kind and both have the same matrix.
PetscErrorCode ShareSmoother(PC pc, PC other);
/// What it works with, once it is set up.
PetscErrorCode GetSmoother(PC pc, const Smoother **smoother, Direction *direction);
/// `steps` steps of Richardson's method with `pc`, which is set up, for A x = b; `zero`: x is 0, whatever is in it.
/// Collective.
PetscErrorCode SmoothWith(PC pc, Vec b, Vec x, PetscInt steps, bool zero);

} // namespace sparsegpu::smooth
