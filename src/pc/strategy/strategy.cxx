/// Which strategy serves which -pc_sparsegpu_factor, and the order of elimination that they share.
#include "pc/strategy/strategy.hpp"
#include <petsc/private/matimpl.h>

namespace sparsegpu::strategy
{

namespace
{
using Maker              = std::unique_ptr<Strategy> (*)(PcOptions *, EliminationOrder *);
constexpr Maker MAKERS[] = {MakeIncompleteStrategy, MakeIncompleteStrategy, MakeIncompleteStrategy, MakeBlocksStrategy,
                            MakeDirectStrategy,     MakeDirectStrategy,     MakePolynomialStrategy}; ///< [FactorChoice]
} // namespace

PetscErrorCode EliminationOrder::Find(Mat A, const char ordering[])
{
  PetscInt  rows = -1;
  PetscBool natural;

  PetscFunctionBegin;
  if (row) PetscCall(ISGetLocalSize(row, &rows));
  if (rows == A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(name = ordering);
  PetscCall(Free());
  PetscCall(PetscStrcmp(ordering, MATORDERINGNATURAL, &natural));
  if (natural) { // PETSc's has an array of all numbers, twice
    PetscCall(ISCreateStride(PETSC_COMM_SELF, A->rmap->n, 0, 1, &row));
    PetscCall(ISSetIdentity(row));
    PetscCall(ISSetPermutation(row));
    PetscCall(PetscObjectReference((PetscObject)row));
    column = row;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetOrdering(A, ordering, &row, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EliminationOrder::Free()
{
  PetscFunctionBegin;
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Strategy::ApplyMany(PC pc, Mat B, Mat X)
{
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  for (PetscInt c = 0; c < columns; c++) {
    Vec b, x;
    PetscCall(MatDenseGetColumnVecRead(B, c, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
    PetscCall(Apply(pc, b, x, false));
    PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Strategy::ApplyHalf(PC pc, Vec, Vec, bool)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
          "Symmetric application needs -pc_sparsegpu_factor icc, not %s",
          FactorNames[static_cast<int>(options_->factor)]);
}

bool SameStrategy(FactorChoice a, FactorChoice b)
{
  return MAKERS[static_cast<int>(a)] == MAKERS[static_cast<int>(b)];
}

PetscErrorCode MakeStrategy(PcOptions *options, EliminationOrder *order, std::unique_ptr<Strategy> *strategy)
{
  PetscFunctionBegin;
  PetscCallCXX(*strategy = MAKERS[static_cast<int>(options->factor)](options, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::strategy
