/// What smoothers need to know of a matrix that is not Hermitian, by Arnoldi's method.
#pragma once

#include <petscmat.h>
#include <vector>
#include "pc/aggregate/names.hpp"

namespace sparsegpu::aggregate
{

/// *bound: what takes the place of the largest eigenvalue of D^-1 A where that is not real. The field of values of a
/// matrix M, which norms of polynomials of M follow where eigenvectors are far from orthogonal, lies in |Re z| <= a and
/// |Im z| <= b, as far as a Krylov space of `steps` vectors tells, which begins with `start`. *bound = a + 4 b^2 / a: a
/// for b = 0, and never less than 4 b. Two steps of Chebyshev's method on [0.1, 1.1] *bound amplify nothing with
/// |Im z| <= *bound / 4 and Re z between 0.14 and 1.06 *bound.
///
/// It is the smaller one of M = D^-1 A and of M = |D|^1/2 D^-1 A |D|^-1/2, which have the same eigenvalues: the former
/// does not see the scales of rows, as of boundary conditions, the latter sees no asymmetry where coefficients jump.
/// Where the diagonal varies by a factor of 4 at most it is that of the former. Rows without a diagonal entry count as
/// zero; 0 or NaN where there is nothing to be found. `steps` + 5 vectors, at most 2 `steps` products with A.
/// Collective.
PetscErrorCode BoundForChebyshev(Mat A, PetscInt steps, Vec start, PetscReal *bound);
/// The largest magnitude of the eigenvalues of the first n rows and columns of h [most * most], by columns. NaN if an
/// entry is not finite.
PetscErrorCode SpectralRadius(PetscInt most, PetscInt n, const std::vector<PetscScalar> &h, PetscReal *radius);

} // namespace sparsegpu::aggregate
