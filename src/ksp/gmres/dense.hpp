/// The products with a basis: inner products, update, linear combination. The last of `columns` columns is the new
/// direction w, the others are the basis.
#pragma once

#include "device/device.hpp"
#include "ksp/common/columns.hpp"
#include "ksp/gmres/names.hpp"

namespace sparsegpu::gmres
{

/// An entry of a compressed basis; the arithmetic is that of Scalar.
struct Narrow {
  float re;
#if defined(PETSC_USE_COMPLEX)
  float im;
#endif
};
SPARSEGPU_HD Scalar Widen(const Narrow &v)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(v.re, v.im);
#else
  return v.re;
#endif
}
SPARSEGPU_HD Scalar Widen(const Scalar &v)
{
  return v;
}
SPARSEGPU_HD void Store(const Scalar &v, Narrow *to)
{
#if defined(PETSC_USE_COMPLEX)
  *to = Narrow{static_cast<float>(v.re), static_cast<float>(v.im)};
#else
  *to = Narrow{static_cast<float>(v)};
#endif
}
SPARSEGPU_HD void Store(const Scalar &v, Scalar *to)
{
  *to = v;
}

/// A basis and the new direction, which is its last column. Of a compressed one w is an array of its own: it is
/// rounded, and stored as a column as well, once it is orthogonal.
template <class Entry> struct Basis {
  PetscInt rows, stride; ///< as Dense has them
  Entry   *v;            ///< [stride * columns]
  Scalar  *w;            ///< [rows]

  static constexpr bool NARROW = sizeof(Entry) == sizeof(Narrow) && alignof(Entry) == alignof(Narrow) &&
                                 sizeof(PetscReal) > sizeof(float);
};
inline Basis<Scalar> FullBasis(const Dense &V, PetscInt columns)
{
  return Basis<Scalar>{V.rows, V.stride, V.v, V.Column(columns - 1)};
}

/// dots[c] = V_c^H w for every column, w itself, whose entry is its square norm, among them.
template <class Entry> PetscErrorCode ColumnDots_Host(const Basis<Entry> &V, PetscInt columns, Scalar *dots);
/// w = scale (w - sum of h[c] V_c over the basis); `ends`: it is orthogonal now.
template <class Entry>
PetscErrorCode ColumnUpdate_Host(const Basis<Entry> &V, PetscInt columns, const Scalar *h, PetscReal scale, bool ends);
/// out = sum of y[c] V_c over `columns` columns, or `add`: out += that.
template <class Entry>
PetscErrorCode ColumnCombine_Host(const Basis<Entry> &V, PetscInt columns, const Scalar *y, bool add, Scalar *out);

/// Scratch memory of ColumnDots_CUDA(). `arrived` is zero before and after.
struct DotScratch {
  Scalar   *partial; ///< [DotScratchEntries()]
  unsigned *arrived; ///< [1]
  PetscInt  multiprocessors;
};
inline PetscInt DotScratchEntries(PetscInt columns, PetscInt multiprocessors)
{
  return 64 * multiprocessors + columns; // at most 8 blocks for each multiprocessor, of 8 sums each; dense_blocks()
}
/// On a device no more columns than this: their coefficients are in shared memory.
constexpr PetscInt COLUMNS_ON_DEVICE = 2048;

/// As above; dots, h and y are on the device. One launch each, asynchronous, bitwise reproducible. A combination
/// becomes out = base + scale .* (V y); scale and base [rows] may be null, base may be out.
template <class Entry> PetscErrorCode ColumnDots_CUDA(const Basis<Entry> &V, PetscInt columns,
                                                      const DotScratch &scratch, Scalar *dots, Stream stream);
template <class Entry> PetscErrorCode ColumnUpdate_CUDA(const Basis<Entry> &V, PetscInt columns, const Scalar *h,
                                                        PetscReal scale, bool ends, Stream stream);
template <class Entry> PetscErrorCode ColumnCombine_CUDA(const Basis<Entry> &V, PetscInt columns, const Scalar *y,
                                                         const Scalar *scale, const Scalar *base, Scalar *out,
                                                         Stream stream);
/// w = column c of a compressed basis.
PetscErrorCode ColumnWiden_CUDA(const Basis<Narrow> &V, PetscInt c, Stream stream);

} // namespace sparsegpu::gmres
