/// What a cycle of GMRES tells of the vectors that slow it down: harmonic Ritz vectors, and how the next cycle keeps
/// their space.
#pragma once

#include <vector>
#include "ksp/gmres/hessenberg.hpp"

namespace sparsegpu::gmres
{

/// A cycle has a basis V of steps + 1 orthonormal vectors and applied the operator A to vectors W, A W = V H. The space
/// W Z of `kept` columns is kept as operands U = W operand, whose images C = A U = V image are orthonormal. Coefficient
/// q of column c is at c * kept + q.
struct KeptSpace {
  PetscInt            kept = 0;
  std::vector<Scalar> image, operand; ///< [(steps + 1) * kept], [steps * kept]
  std::vector<Scalar> inside;         ///< [(kept + 1) * kept] by columns: [C r]^H U, r the residual, of norm 1
};

/// *space = that of the at most `most` harmonic Ritz vectors with the smallest values, of a cycle of so many steps,
/// whose triangle, rotations and right-hand side are H's, and which began with `before`: its first before.kept basis
/// vectors and operands are those, then comes the residual, and all other operands are the basis vectors. kept is 0
/// where there is none, as with values that are not finite. Not collective.
///
/// Values theta and vectors W g with W^H A^H (A W - theta W) g = 0: with H = Q R that is R g = theta Q^H (V^H W) g.
/// Residuals of harmonic Ritz vectors are multiples of r (Morgan, SIAM J. Sci. Comput. 24(1), 2002), so U lies in the
/// span of C and r, and V^H W of the next cycle is known without inner products. The form with orthonormal images is
/// that of Parks, de Sturler, Mackey, Johnson & Maiti, SIAM J. Sci. Comput. 28(5), 2006.
PetscErrorCode FindKeptSpace(const Hessenberg &H, PetscInt steps, PetscInt most, const KeptSpace &before,
                             KeptSpace *space);

} // namespace sparsegpu::gmres
