/// The Schur complement of a direct factorization: its variables are eliminated last, as the pivots of one front that
/// is assembled and not factored.
#pragma once

#include <petscmat.h>
#include "mat/rows/csr_view.hpp"
#include "pc/factor/rows.hpp"
#include "pc/lu/names.hpp"
#include "pc/lu/reorder.hpp"

namespace sparsegpu::lu
{

/// "MatFactorSetSchurIS_C" of F: before the symbolic factorization; F->schur becomes a dense matrix of its order.
/// Errors: PETSC_ERR_ARG_OUTOFRANGE naming an index; PETSC_ERR_ARG_WRONGSTATE after a symbolic factorization.
PetscErrorCode MatFactorSetSchurIS_Direct(Mat F, IS is);
/// *order: that of the other variables, as -pc_factor_mat_ordering_type or the preferred ordering has it for their own
/// block, then the Schur variables. `given` [A.rows]: an order that the caller has chosen, whose other variables stay
/// as they are in it; empty: none.
PetscErrorCode SchurOrder(Reordering *reordering, const CsrView &rows, const std::vector<PetscInt> &given,
                          std::vector<PetscInt> *order);
/// Factors the values a [nonzeros], in the factor's space, and fills F->schur. *good: pivots of all other variables
/// were found.
PetscErrorCode SchurNumeric(Mat F, Mat A, const Scalar *a, bool *good);
/// x = A^-1 b or A^-T b: condensed, solved with the Schur complement, which is factored when it is first needed, and
/// expanded; refined. In the factor's space.
PetscErrorCode SchurSolve(Mat F, const Scalar *b, Scalar *x, bool transpose);

} // namespace sparsegpu::lu
