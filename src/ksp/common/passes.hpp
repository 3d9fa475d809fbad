/// Passes over the rows of a solve: what the host and the device agree on, and sums on the host.
#pragma once

#include <petscsys.h>

namespace sparsegpu::ksp
{

constexpr int PASS_BLOCKS = 2048; ///< of a pass on the device at most

/// Rows that a pass on the host takes at a time: of four vectors 16 KB, what stays in a core's first-level cache.
constexpr PetscInt PASS_PIECE = 512;

/// The sums of add(row, sums) for rows begin .. end - 1, in four interleaved parts so that no addition waits for the
/// one before. Sums is zero by default and has +=.
template <class Sums, class Add> Sums SumOfRows(PetscInt begin, PetscInt end, Add add)
{
  constexpr int WAYS        = 4;
  Sums          parts[WAYS] = {};
  PetscInt      r           = begin;

  for (; r + WAYS <= end; r += WAYS)
    for (int k = 0; k < WAYS; k++) add(r + k, &parts[k]);
  for (; r < end; r++) add(r, &parts[0]);
  for (int k = 1; k < WAYS; k++) parts[0] += parts[k];
  return parts[0];
}

/// `count` reals that are added up separately.
template <int count> struct RealSums {
  PetscReal v[count] = {};
  RealSums &operator+=(const RealSums &other)
  {
    for (int k = 0; k < count; k++) v[k] += other.v[k];
    return *this;
  }
};

} // namespace sparsegpu::ksp
