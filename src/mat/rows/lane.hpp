/// Neighbouring indices of a function object that share a row.
#pragma once

#include "device/scalar.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::rows::values
{

/// How many neighbouring indices share a row where an operation has several: 1 << bits, at most a warp and no more
/// than the mean row has entries. They take its entries in turn, so that neighbouring threads read neighbouring ones.
inline int LaneBits(PetscCount rows, PetscCount nonzeros)
{
  int bits = 0;
  while (bits < 5 && rows && (PetscCount(2) << bits) <= nonzeros / rows) bits++;
  return bits;
}
inline int LaneBits(const CsrView &pattern)
{
  return LaneBits(pattern.rows, pattern.nonzeros);
}
/// The entries of one index of those that share a row.
struct Lane {
  PetscCount   row;
  int          first, step; ///< from the row's beginning
  SPARSEGPU_HD Lane(PetscCount k, int bits)
      : row(k >> bits),
        first(static_cast<int>(k & ((PetscCount(1) << bits) - 1))),
        step(1 << bits)
  {
  }
};

} // namespace sparsegpu::rows::values
