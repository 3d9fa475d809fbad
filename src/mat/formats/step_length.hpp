/// The length of a step from the sums of a product with ProductSums::Shadow: alpha = (y, r) / (y, z).
#pragma once

#include "mat/formats/dots.hpp"

namespace sparsegpu::formats
{

SPARSEGPU_HD bool Finite(PetscReal v)
{
  return v - v == 0;
}
/// a / b without overflow where the quotient has none.
SPARSEGPU_HD Scalar Quotient(const Scalar &a, const Scalar &b)
{
#if defined(PETSC_USE_COMPLEX)
  const PetscReal size = LargestPart(b);
  const Scalar    near(b.re / size, b.im / size), q = a * Inverse(near);
  return Scalar(q.re / size, q.im / size);
#else
  return a / b;
#endif
}
SPARSEGPU_HD Scalar FromParts(const PetscReal *part)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(part[0], part[1]);
#else
  return part[0];
#endif
}
/// Whether an inner product of vectors with squares a and b consists of rounding errors.
SPARSEGPU_HD bool Vanishes(const Scalar &product, PetscReal a, PetscReal b)
{
  return !(Magnitude(product) > PETSC_MACHINE_EPSILON * SquareRoot(a) * SquareRoot(b));
}

struct StepLength {
  Scalar    rho;     ///< (y, r), known before the product
  PetscReal shadow;  ///< |y|^2
  PetscReal square;  ///< |r|^2
  Scalar    alpha;   ///< 0 where it is broken
  Scalar    along;   ///< (y, z)
  PetscReal image;   ///< |z|^2
  int       broken;  ///< rho or (y, z) consists of rounding errors
  unsigned  arrived; ///< groups of the product under way; zero before and after
};

/// What the sums say of the step whose first three members are known.
SPARSEGPU_HD void FindLength(StepLength *step, const PetscReal (&sums)[SHADOW_DOTS])
{
  step->along  = FromParts(sums);
  step->image  = sums[PARTS];
  step->broken = Vanishes(step->rho, step->shadow, step->square) || Vanishes(step->along, step->shadow, step->image);
  step->alpha  = step->broken ? Scalar(0) : Quotient(step->rho, step->along);
}

} // namespace sparsegpu::formats
