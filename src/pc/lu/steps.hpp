/// The order in which fronts are factored.
#pragma once

#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

/// plan->step and step_begin; fronts of more than `largest_small` rows are large. O(fronts). Throws std::bad_alloc.
void FindSteps(const FrontTree &tree, Steps steps, PetscInt largest_small, FrontPlan *plan);

} // namespace sparsegpu::lu
