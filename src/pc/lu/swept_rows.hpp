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

} // namespace sparsegpu::lu
