/// Function objects for loops over the entries of a matrix, in CSR's order, and their slots.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::formats
{

struct TakeSlot {
  PetscInt *slot, first = 0;

  __device__ void operator()(PetscInt e, PetscInt s) const { slot[e] = first + s; }
};
/// Values are made `canonical` where PadValue() marks padding.
template <bool canonical> struct TakeValue {
  const Scalar *a;
  Scalar       *values;

  __device__ void operator()(PetscInt e, PetscInt s) const { values[s] = canonical ? StoredValue(a[e]) : a[e]; }
};

} // namespace sparsegpu::formats
