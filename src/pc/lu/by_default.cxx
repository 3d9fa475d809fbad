#include "pc/lu/by_default.hpp"
#include <petsc/private/matimpl.h>
#include "pc/factor/rows.hpp"
#include "pc/lu/factorize.hpp"
#include "pc/lu/matsolver.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::lu
{

namespace
{
constexpr PetscInt LEAST_ROWS = 2000; ///< ours is the faster one from some hundred rows of a three-dimensional grid on,
                                      ///< and from 2,000 on of all that were measured

/// F becomes PETSc's own factor. `row`, `column`: null where only ours knows the order.
PetscErrorCode GiveWay(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  const MatFactorType kind = F->factortype;
  Mat                 other;
  IS                  own[2] = {nullptr, nullptr};

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, kind, &other));
  PetscCall(MatHeaderReplace(F, &other));
  if (!row) PetscCall(MatGetOrdering(A, MATORDERINGND, &own[0], &own[1]));
  if (kind == MAT_FACTOR_LU)
    PetscCall((*F->ops->lufactorsymbolic)(F, A, row ? row : own[0], row ? column : own[1], info));
  else
    PetscCall((*F->ops->choleskyfactorsymbolic)(F, A, row ? row : own[0], info));
  for (IS &is : own) PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  const DirectKind kind   = F->factortype == MAT_FACTOR_LU ? DirectKind::LU : DirectKind::Cholesky;
  bool             shifts = !TakesShift(info), lacks = false;

  PetscFunctionBegin;
  if (!shifts) PetscCall(MayLackMemory([&] { return BeginDirect(F, A, row, column, info, kind); }, &lacks));
  if (!shifts && !lacks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(F, "PETSc's factorization takes the place of ours: %s\n",
                      shifts ? "it can shift the diagonal" : "ours lacks memory"));
  PetscCall(GiveWay(F, A, row, column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SymbolicCholesky(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, order, order, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakesByDefault(Mat A, bool *takes)
{
  Space space;

  PetscFunctionBegin;
  *takes = false;
  if (A->rmap->n < LEAST_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor::FactorSpace(A, &space));
  *takes = space == Space::Device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MayGiveWay(Mat F)
{
  PetscFunctionBegin;
  F->ops->lufactorsymbolic       = Symbolic;
  F->ops->choleskyfactorsymbolic = SymbolicCholesky;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
