/// Systems so small that launch latency and the host would dominate are solved with many iterations in one cooperative
/// launch.
#pragma once

#include <petscsys.h>

namespace sparsegpu::ksp
{

enum class SmallMode {
  Auto, ///< where it is faster
  On,   ///< where it is possible
  Off
};
inline constexpr const char *const SmallModes[] = {"auto", "on", "off", "SmallMode", "SMALL_MODE_", nullptr};

/// Whether a system of this size is solved so. With more than `most` nonzeros an iteration takes longer than its
/// launches.
inline bool IsSmall(SmallMode mode, PetscInt rows, PetscInt nonzeros, PetscInt most)
{
  constexpr PetscInt ROWS = 100000; // more, and a pass over vectors takes longer than launches do

  return mode == SmallMode::On || (mode == SmallMode::Auto && rows <= ROWS && nonzeros <= most);
}

} // namespace sparsegpu::ksp
