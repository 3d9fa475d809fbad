/// What a product on the device does with A x.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::formats
{

/// z = A x + y; y null or z allowed. Where f is not null a step of a smoother or a residual instead,
/// z = before z + now x + residual d (f - A x): d null is 1, z is not read where before = 0, and is not x.
struct ProductTarget {
  const Scalar *y;                ///< [rows]
  Scalar       *z;                ///< [rows]
  const Scalar *f      = nullptr; ///< [rows]
  const Scalar *d      = nullptr; ///< [rows]
  const Scalar *x      = nullptr; ///< [rows] not read where now = 0
  PetscReal     before = 0, now = 0, residual = 0;
};

/// z += factor d A x; d null: 1.
struct SumTarget {
  Scalar       *z;                ///< [rows]
  const Scalar *d      = nullptr; ///< [rows]
  PetscReal     factor = 1;
};

} // namespace sparsegpu::formats
