/// The columns of a product with a dense matrix, Z = A X, and inner products that it may leave.
#pragma once

#include <cstddef>
#include "device/scalar.hpp"
#include "mat/formats/dots.hpp"

namespace sparsegpu::formats
{

struct DenseColumns {
  PetscInt      count;
  const Scalar *x;   ///< [ldx * (count - 1) + cols] by columns
  PetscInt      ldx; ///< from the first entry of a column to that of the next
  Scalar       *z;   ///< [ldz * (count - 1) + rows] by columns
  PetscInt      ldz;

  SPARSEGPU_HD const Scalar *X(PetscInt column) const { return x + static_cast<std::ptrdiff_t>(column) * ldx; }
  SPARSEGPU_HD Scalar       *Z(PetscInt column) const { return z + static_cast<std::ptrdiff_t>(column) * ldz; }
  /// `n` of them from `first` on.
  DenseColumns Part(PetscInt first, PetscInt n) const { return DenseColumns{n, X(first), ldx, Z(first), ldz}; }
};

/// The inner products of each column that ProductSums::Conjugate are of one: the real parts of (x, z), (y, W z) and
/// (z, W z). All arrays are on the device.
struct DenseDots {
  const Scalar *y; ///< [ldy * (count - 1) + rows] by columns; null: the sums with W are zero
  PetscInt      ldy;
  const Scalar *weight;  ///< [rows] W; null: 1
  const int    *varies;  ///< [1] zero if all weights are the first one; null: they may differ
  PetscReal    *sums;    ///< [count * DOTS] by columns
  PetscReal    *partial; ///< [DenseDotsRoom(rows)] scratch
  unsigned     *arrived; ///< [DOT_GROUPS + 1] zero before and after

  SPARSEGPU_HD const Scalar *Y(PetscInt column) const { return y + static_cast<std::ptrdiff_t>(column) * ldy; }
  /// Of the columns from `first` on.
  DenseDots Part(PetscInt first) const
  {
    return DenseDots{y ? Y(first) : nullptr, ldy, weight, varies, sums + first * DOTS, partial, arrived};
  }
};

/// Columns at a time, as many as registers hold. Of fewer a pass over the vectors takes less time than such an end of a
/// product.
constexpr int DENSE_DOTS = 64 / sizeof(Scalar) < 8 ? 64 / sizeof(Scalar) : 8;

/// Sums of the thread blocks of a product, of 256 rows or more each, and of their groups.
inline size_t DenseDotsRoom(PetscInt rows)
{
  return (static_cast<size_t>(rows) / 256 + 1 + DOT_GROUPS) * DENSE_DOTS * DOTS;
}

} // namespace sparsegpu::formats
