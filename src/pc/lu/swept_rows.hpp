/// How many rows of a large front a thread block takes through a sweep with one column.
#pragma once

#include "pc/lu/plan.hpp"

namespace sparsegpu::lu
{

/// Of numbers of so many bytes: two tiles, or one where a triangle of two takes more than the 48 KB of shared memory
/// that a kernel can declare.
constexpr PetscInt SweptRows(size_t bytes)
{
  return bytes > sizeof(double) ? LU_TILE : 2 * LU_TILE;
}
template <class Number> constexpr int SWEPT_ROWS = SweptRows(sizeof(Number));

/// Other rows that the block of a front's pivots takes along where it has all of these: most large fronts have few
/// pivots, and a block that has a few rows waits longer than it works.
constexpr PetscInt TAKEN_ALONG = 512;
static_assert(TAKEN_ALONG % (2 * LU_TILE) == 0, "of whole blocks");

} // namespace sparsegpu::lu
