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

constexpr PetscInt SMALL_RECORDS = 4096; ///< as many iterations as one launch does at most

/// Rows of a small system: with more a pass over vectors takes longer than launches do.
constexpr PetscInt SMALL_ROWS = 100000;

/// Nonzeros of one whose iterations read a diagonal and vectors beside the matrix.
constexpr PetscInt SMALL_NONZEROS = 2000000;

/// Whether a system of this size is solved so. With more than `most` nonzeros an iteration takes longer than its
/// launches.
inline bool IsSmall(SmallMode mode, PetscInt rows, PetscInt nonzeros, PetscInt most)
{
  return mode == SmallMode::On || (mode == SmallMode::Auto && rows <= SMALL_ROWS && nonzeros <= most);
}

} // namespace sparsegpu::ksp
