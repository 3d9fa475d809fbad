/// Products of interpolation factors, of which only the largest entries of each row are kept.
#pragma once

#include "mat/products/multiply.hpp"
#include "pc/classical/interpolation.hpp"

namespace sparsegpu::classical
{

/// Compressed rows in one space.
struct OwnedRows {
  Array<PetscInt> i, j;
  Array<Scalar>   a;
};

/// *kept: of the rows of W what `choice` keeps, in its columns, ascending. Errors:
/// PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
PetscErrorCode Truncate(Space space, const Factors &W, const Choice &choice, OwnedRows *kept);
/// The same of W = `left` `right`, which is never there as a whole on the host.
PetscErrorCode MultiplyAndTruncate(Space space, const SparseRows &left, const SparseRows &right, const Choice &choice,
                                   OwnedRows *kept);

} // namespace sparsegpu::classical
