/// The vectors of GMRES on the device, as RefineByGmres() wants them: few, and rarely.
#pragma once

#include "pc/lu/system.hpp"

namespace sparsegpu::lu
{

struct LuCoefficients {
  Scalar c[LU_BASIS];
};

/// v[k] = scale[k] * r[k], or r[k] if scale is null.
PetscErrorCode Scale_CUDA(PetscInt rows, const PetscReal *scale, const Scalar *r, Scalar *v, Stream stream);
/// v[k] = scale[k] * (A z)[k], or (A z)[k] if scale is null.
PetscErrorCode ScaledProduct_CUDA(const SystemView &A, const PetscReal *scale, const Scalar *z, Scalar *v,
                                  Stream stream);
/// result[k] = v_k^H w, on the device, for the vectors v_0 .. v_(count - 1), which lie one after the other.
PetscErrorCode Dots_CUDA(PetscInt rows, PetscInt count, const Scalar *v, const Scalar *w, Scalar *result,
                         Stream stream);
/// y = beta y + sum of c_k v_k; y is not read if beta is 0.
PetscErrorCode Combine_CUDA(PetscInt rows, PetscInt count, const LuCoefficients &c, const Scalar *v, PetscReal beta,
                            Scalar *y, Stream stream);

} // namespace sparsegpu::lu
