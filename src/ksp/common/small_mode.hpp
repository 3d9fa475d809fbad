/// Solves of systems so small that launches and the host would take most of the time run many iterations in one launch,
/// whose thread blocks wait for each other.
#pragma once

#include <petscsys.h>

namespace sparsegpu
{

enum class SmallMode {
  Auto, ///< where it is faster
  On,   ///< where it is possible
  Off
};
inline constexpr const char *const SmallModes[] = {"auto", "on", "off", "SmallMode", "SMALL_MODE_", nullptr};

/// Is a system of this size to be solved so? With more than `most` nonzeros an iteration takes longer than its launches
/// do.
inline bool IsSmall(SmallMode mode, PetscInt rows, PetscInt nonzeros, PetscInt most)
{
  constexpr PetscInt ROWS = 100000; // more, and a pass over vectors takes longer than launches do

  return mode == SmallMode::On || (mode == SmallMode::Auto && rows <= ROWS && nonzeros <= most);
}

} // namespace sparsegpu
