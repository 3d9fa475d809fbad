/// What -ksp_view says of a hierarchy.
#pragma once

#include "pc/amg/cycle.hpp"
#include "pc/amg/hierarchy.hpp"

namespace sparsegpu::amg
{

/// Levels, complexities and why coarsening ended; the same in every run. Collective.
PetscErrorCode ViewHierarchy(PC pc, const Hierarchy &hierarchy, const Cycle &cycle, const Settings &settings,
                             PetscViewer viewer);

} // namespace sparsegpu::amg
