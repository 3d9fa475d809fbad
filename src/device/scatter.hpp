/// The value refresh of every format: CSR values to the slots that the format gave them.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu
{

/// value[slot ? slot[e] : e] = a[e] for the `count` entries; `canonical` stores StoredValue(a[e]).
PetscErrorCode ScatterValues_CUDA(PetscInt count, const PetscInt *slot, const Scalar *a, bool canonical, Scalar *value,
                                  Stream stream);
/// a[e] = b[perm[e]], conjugated if `conjugate`.
PetscErrorCode PermuteValues_CUDA(PetscInt count, const PetscInt *perm, const Scalar *b, bool conjugate, Scalar *a,
                                  Stream stream);
/// value[0 .. count) = v.
PetscErrorCode FillValues_CUDA(PetscInt count, Scalar v, Scalar *value, Stream stream);
/// a[e] = (add ? a[e] : 0) + sum of v[perm[k]], jmap[e] <= k < jmap[e + 1], in that order: assembly from coordinates.
/// Without jmap: v[perm[e]].
PetscErrorCode SumCoordinates_CUDA(PetscInt count, const PetscInt *jmap, const PetscInt *perm, const Scalar *v,
                                   bool add, Scalar *a, Stream stream);

} // namespace sparsegpu
