/// The sum of one row of a stencil, for kernels on the host.
#pragma once

#include <cmath>
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu::formats
{

/// sum + a u, rounded once where scalars are real.
inline Scalar AddProduct(const Scalar &a, const Scalar &u, const Scalar &sum)
{
#if defined(PETSC_USE_COMPLEX)
  return sum + a * u;
#else
  return std::fma(a, u, sum);
#endif
}

template <int batch, class Ready>
inline Scalar stencil_row_sum(const StencilLayout &A, int c, const Scalar *at, Ready ready)
{
  Scalar sum(0);
  ready();
  for (PetscInt e = A.begin[c]; e < A.begin[c + 1]; e++) sum = AddProduct(A.value[e], at[A.offset[e]], sum);
  return sum;
}

} // namespace sparsegpu::formats
