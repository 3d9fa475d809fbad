/// The solvers of the levels of a PCMG: the smoothers that -pc_sparsegpuamg_smoother names, a direct coarsest solve;
/// options under -mg_levels_ and -mg_coarse_ go before.
#pragma once

#include <petscksp.h>
#include "pc/amg/hierarchy.hpp"

namespace sparsegpu::amg
{

/// What smooths on the finest level, or on the others.
Settings::Smoother SmootherOf(const Hierarchy &hierarchy, const Settings &settings, bool finest);
/// Whether the options of a smoother leave it to the hierarchy to say what spectrum it sees: that of D^-1 A.
PetscErrorCode TakesSpectrum(KSP ksp, bool *takes);
/// Whether options leave Richardson's method its scale of 1.
PetscErrorCode TakesUnscaled(KSP ksp, bool *takes);
/// Gives the levels of `pc`, as many as `hierarchy` has, operators, interpolation and default solvers.
PetscErrorCode ConfigureLevels(PC pc, const Hierarchy &hierarchy, const Settings &settings);
/// The same for new values: operators and the bounds of the smoothers.
PetscErrorCode RefreshLevels(PC pc, const Hierarchy &hierarchy, const Settings &settings);

} // namespace sparsegpu::amg
