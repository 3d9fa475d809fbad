/// Unknowns that are eliminated in pairs, in a symmetric factorization.
#include "pc/lu/direct.hpp"
#include "pc/lu/reorder.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// An order of elimination in which partners follow each other: that of ReorderPairs(); with a null context, the given
/// order.
PetscErrorCode DirectFactor::ArrangePairs(const CsrView &A, Pairing &&pairing, std::vector<PetscInt> *order,
                                          void *context)
{
  PetscFunctionBegin;
  if (context) PetscCall(ReorderPairs(A, pairing.partner, context, order));
  PetscCall(BringTogether(pairing.partner, order));
  partner_          = std::move(pairing.partner);
  analysis_.matched = true;
  tried_deferring   = false;
  deferred_.clear();
  pairing_.clear(); // LU's
  PetscCallCXX(analysis_.column_scale = pairing.scale);
  analysis_.row_scale = std::move(pairing.scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::ChoosePairs()
{
  PetscFunctionBegin;
  if (analysis_.paired) PetscFunctionReturn(PETSC_SUCCESS);
  analysis_.paired = true;
  proven           = false;
  PetscCall(MakeEngine());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectFactor::PairAgain(const CsrView &A, void *context, bool *changed)
{
  std::vector<PetscInt> order;
  Matching              matching;
  Pairing               pairing;

  PetscFunctionBegin;
  *changed = false;
  PetscCall(MaximumProduct(A, &matching));
  if (matching.unmatched >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PairUnknowns(A, matching, &pairing));
  *changed = partner_ != pairing.partner || analysis_.row_scale != pairing.scale;
  if (!*changed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(order = analysis_.column_order);
  PetscCall(ArrangePairs(A, std::move(pairing), &order, partner_ == pairing.partner ? nullptr : context));
  analysis_.paired = true;
  PetscCall(Analyse(A, order, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
