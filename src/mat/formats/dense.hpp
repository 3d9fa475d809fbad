/// The columns of a product with a dense matrix, Z = A X.
#pragma once

#include <cstddef>
#include "device/scalar.hpp"

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

} // namespace sparsegpu::formats
