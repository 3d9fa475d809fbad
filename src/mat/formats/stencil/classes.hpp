/// Rows as seen from the diagonal: when two of them are the same, and their hash.
#pragma once

#include <cstdint>
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu::formats
{

/// Of a table with open addressing, a quarter full at most.
constexpr int ROW_CLASS_SLOTS = 4 * StencilLayout::CLASSES;

SPARSEGPU_HD std::uint64_t MixHash(std::uint64_t h, std::uint64_t v)
{
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}
SPARSEGPU_HD std::uint64_t BitsOfValue(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return MixHash(BitsOf(v.re), BitsOf(v.im));
#else
  return BitsOf(v);
#endif
}

SPARSEGPU_HD std::uint64_t HashOfRow(const CsrArrays &A, PetscInt r)
{
  std::uint64_t h = 1;
  for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++)
    h = MixHash(MixHash(h, static_cast<std::uint64_t>(A.j[e] - r)), BitsOfValue(A.a[e]));
  return h;
}

SPARSEGPU_HD bool SameRow(const CsrArrays &A, PetscInt r, PetscInt q)
{
  const PetscInt length = A.i[r + 1] - A.i[r];
  if (A.i[q + 1] - A.i[q] != length) return false;
  for (PetscInt k = 0; k < length; k++) {
    const PetscInt e = A.i[r] + k, f = A.i[q] + k;
    if (A.j[e] - r != A.j[f] - q || !SameBits(A.a[e], A.a[f])) return false;
  }
  return true;
}

} // namespace sparsegpu::formats
