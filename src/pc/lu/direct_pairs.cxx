/// Unknowns that are eliminated in pairs, in a symmetric factorization.
#include <numeric>
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// An order of elimination in which partners follow each other: `reorder`'s of what pairs are coupled with; without
/// one, the given order.
PetscErrorCode DirectFactor::ArrangePairs(const CsrView &A, Pairing &&pairing, std::vector<PetscInt> *order,
                                          Orderer reorder, void *context)
{
  std::vector<PetscInt> i, j, natural;
  SymmetricPattern      pattern;

  PetscFunctionBegin;
  if (reorder) {
    PetscCallCXX(natural.resize(A.rows));
    std::iota(natural.begin(), natural.end(), 0);
    PetscCall(symbolic::SymmetricPatternOf(A, natural, natural, &pattern));
    PetscCall(symbolic::JoinPairs(pairing.partner, &pattern));
    PetscCheck(pattern.i[A.rows] <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%.0f couplings of pairs are too many for PetscInt", (double)pattern.i[A.rows]);
    PetscCallCXX(i.assign(pattern.i.begin(), pattern.i.end()));
    PetscCallCXX(j.assign(pattern.j.begin(), pattern.j.end()));
    const PetscInt nonzeros = static_cast<PetscInt>(j.size());
    PetscCall((*reorder)(CsrView{A.rows, A.cols, nonzeros, i.data(), j.data(), nullptr}, context, order));
  }
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

PetscErrorCode DirectFactor::PairAgain(const CsrView &A, Orderer reorder, void *context, bool *changed)
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
  PetscCall(ArrangePairs(A, std::move(pairing), &order, partner_ == pairing.partner ? nullptr : reorder, context));
  analysis_.paired = true;
  PetscCall(Analyse(A, order, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
