/// Right-hand sides that are solved and refined together, so that the factors are read once for all of them.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::lu
{

/// Columns of a block at most: 16 real numbers or 8 complex ones, of which a GPU's thread block keeps 32 rows and what
/// its warps add to them in 48 kB.
constexpr PetscInt LU_COLUMNS = sizeof(Scalar) > 8 ? 8 : 16;

/// Those of a block that an operation is for: columns that need no more refinement leave.
struct LuColumns {
  PetscInt count = 0;
  int      at[LU_COLUMNS]; ///< [count] ascending

  void Add(PetscInt column) { at[count++] = static_cast<int>(column); }
};
/// All of a block of `count` columns.
inline LuColumns FirstColumns(PetscInt count)
{
  LuColumns columns;
  for (PetscInt c = 0; c < count; c++) columns.Add(c);
  return columns;
}

} // namespace sparsegpu::lu
