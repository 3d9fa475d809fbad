/// Counters of BlockGroup.
#pragma once

#include <petscsys.h>

namespace sparsegpu::ksp
{

constexpr PetscInt GROUP_COUNTERS = 32; ///< unsigned numbers of a group: a line of its own, of which one is used

} // namespace sparsegpu::ksp
