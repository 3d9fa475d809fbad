/// The order of elimination of a matrix whose rows a matching has moved.
#pragma once

#include <petscmat.h>
#include <string>
#include <vector>
#include "device/device.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/lu/names.hpp"

namespace sparsegpu::lu
{

/// The factor whose options name the ordering, its matrix, and where it is factored; what the ordering says of how it
/// was found.
struct Reordering {
  Mat          F, A;
  Space        space;
  std::string *taken;
};
/// *order [B.rows]: the column that is eliminated k-th, in the ordering that -pc_factor_mat_ordering_type names, or the
/// preferred one, which it is where B has values: those of the Reordering's own matrix. `context`: a Reordering. A
/// DirectFactor::Orderer.
PetscErrorCode Reorder(const CsrView &B, void *context, std::vector<PetscInt> *order);
/// The same of pairs of unknowns, which need not follow each other in *order. A: the Reordering's own matrix; partner
/// [A.rows]: the other one of each; itself: it is in none.
PetscErrorCode ReorderPairs(const CsrView &A, const std::vector<PetscInt> &partner, void *context,
                            std::vector<PetscInt> *order);

} // namespace sparsegpu::lu
