/// Where the numbers of small systems are worked on.
#pragma once

#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

/// Whether the host is predicted to take less time than the device for new values and a solve, whose values and vectors
/// are on the device: systems of some hundred rows, whose launches and waits take the device longer than the host takes
/// for all. `device`: planned by Steps::Device for these fronts.
bool HostIsFaster(const FrontTree &tree, const FrontPlan &device, PetscCount nonzeros);

} // namespace sparsegpu::lu
