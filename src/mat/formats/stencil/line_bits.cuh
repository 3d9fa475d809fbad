/// Which rows of a line are walked; see lines.hpp.
#pragma once

#include "mat/formats/stencil/lines.hpp"

namespace sparsegpu::formats
{

/// The bits of a line of `length` rows from `row` on, of which none is left out; 0: they are not alike.
__device__ __forceinline__ unsigned whole_line_bits(const StencilLayout &A, PetscInt stride, PetscInt row,
                                                    PetscInt length, const unsigned short *kinds)
{
  constexpr unsigned INSIDE = StencilLines::INSIDE, BEFORE = StencilLines::BEFORE, AFTER = StencilLines::AFTER;
  unsigned           all = ~0u, any = 0, ends = 0;

  for (PetscInt k = 0; k < length; k++) {
    const unsigned here = kinds[A.row_class[row + k * stride]];
    const unsigned open = (k == 0 ? BEFORE : 0) | (k == length - 1 ? AFTER : 0);
    ends |= here & open;
    any |= here & INSIDE;
    all &= here | open;
  }
  return (all & INSIDE) == any && any && (all & BEFORE) && (all & AFTER) ? any | ends : 0;
}

/// The same, leaving out the first, the last row or both, where that makes a line.
__device__ __forceinline__ unsigned line_bits(const StencilLayout &A, PetscInt stride, PetscInt row, PetscInt length,
                                              const unsigned short *kinds)
{
  for (int ends = 0; ends < 4; ends++) {
    const PetscInt first = ends & 1, last = ends >> 1, left = length - first - last;
    const unsigned found = left > 0 ? whole_line_bits(A, stride, row + first * stride, left, kinds) : 0;
    if (found) return found | (first ? StencilLines::NOT_FIRST : 0) | (last ? StencilLines::NOT_LAST : 0);
  }
  return 0;
}

/// Which line has a row, and where.
struct LinePlace {
  PetscInt line, k, length;
};

/// Of row k of a line.
__host__ __device__ __forceinline__ LinePlace place_in_line(const LineWalk &walk, PetscInt rows, PetscInt row)
{
  const PetscInt plane = row / walk.stride, place = row - plane * walk.stride;
  const PetscInt slab = plane / walk.length, first = slab * walk.length * walk.stride + place;
  const PetscInt most = (rows - first - 1) / walk.stride + 1;
  return LinePlace{slab * walk.stride + place, plane - slab * walk.length, most < walk.length ? most : walk.length};
}

/// Whether a row is left out.
struct LeftOut {
  LineWalk              walk;
  PetscInt              rows;
  const unsigned short *bits;

  __host__ __device__ bool operator()(PetscInt row) const
  {
    const LinePlace at = place_in_line(walk, rows, row);
    const unsigned  b  = bits[at.line];
    return !b || (at.k == 0 && b & StencilLines::NOT_FIRST) || (at.k == at.length - 1 && b & StencilLines::NOT_LAST);
  }
};

} // namespace sparsegpu::formats
