/// The products with a basis: inner products, update, linear combination. The last of `columns` columns is the new
/// direction w, the others are the basis.
#pragma once

#include "device/device.hpp"
#include "ksp/common/columns.hpp"
#include "ksp/gmres/names.hpp"

namespace sparsegpu::gmres
{

/// dots[c] = V_c^H w for every column, w itself, whose entry is its square norm, among them.
PetscErrorCode ColumnDots_Host(const Dense &V, PetscInt columns, Scalar *dots);
/// w = scale (w - sum of h[c] V_c over the basis).
PetscErrorCode ColumnUpdate_Host(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale);
/// out = sum of y[c] V_c over `columns` columns.
PetscErrorCode ColumnCombine_Host(const Dense &V, PetscInt columns, const Scalar *y, Scalar *out);

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
PetscErrorCode ColumnDots_CUDA(const Dense &V, PetscInt columns, const DotScratch &scratch, Scalar *dots,
                               Stream stream);
PetscErrorCode ColumnUpdate_CUDA(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale, Stream stream);
PetscErrorCode ColumnCombine_CUDA(const Dense &V, PetscInt columns, const Scalar *y, const Scalar *scale,
                                  const Scalar *base, Scalar *out, Stream stream);

} // namespace sparsegpu::gmres
