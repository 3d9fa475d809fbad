/// How often directions are made orthogonal: KSPGMRES's functions and options until PETSc 3.25, from 3.26 on those of
/// all KSPs.
#pragma once

#include <petscksp.h>
#include "ksp/gmres/names.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

/// When a direction is made orthogonal twice; in the order of PETSc's types.
enum class Refinement {
  Never,
  IfNeeded,
  Always
};

/// *refinement: what options ask for, else as it was.
PetscErrorCode RefinementFromOptions(SparseGPUOptionItems PetscOptionsObject, Refinement *refinement);
/// Of the settings as they are now.
PetscErrorCode GetRefinement(KSP ksp, Refinement *refinement);
const char    *NameOf(Refinement refinement);
/// Gives the KSP the functions of PETSc's interface, or takes them away.
PetscErrorCode ComposeRefinement(KSP ksp, bool add);

} // namespace sparsegpu::gmres
