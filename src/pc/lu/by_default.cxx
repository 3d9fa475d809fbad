#include "pc/lu/by_default.hpp"
#include <petsc/private/matimpl.h>
#include "pc/factor/rows.hpp"
#include "pc/lu/factorize.hpp"
#include "pc/lu/matsolver.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
/// Rows from which on ours is the default: PETSc's first factorization takes as long there, new values three times.
/// With at most three entries a row, as in tridiagonal matrices, there is no fill, and new values take as long at 8,000
/// rows.
constexpr PetscInt       LEAST_ROWS = 2000, LEAST_WITHOUT_FILL = 10000;
constexpr PetscLogDouble WITHOUT_FILL = 3;

bool OnHost(const MatFactorInfo *info)
{
#if PETSC_VERSION_GE(3, 24, 0)
  return info->factoronhost == PETSC_TRUE;
#else
  (void)info;
  return false;
#endif
}

/// What PETSc's does and ours does not, or null. Ours has MAT_SHIFT_INBLOCKS, too, but calls a singular matrix that.
const char *ReasonFor(const MatFactorInfo *info)
{
  if (ShiftOf(info) != MAT_SHIFT_NONE) return "pivots are to be shifted";
  if (OnHost(info)) return "the host is to factor";
  return nullptr;
}

/// Nobody has asked F for what only ours has, and there is one of PETSc's.
bool MayBecomeOther(Mat F, Mat A)
{
  const bool has_other =
      !PetscDefined(USE_COMPLEX) || F->factortype == MAT_FACTOR_LU || A->symmetric == PETSC_BOOL3_TRUE;
  return has_other && DirectOf(F)->schur.empty();
}

/// F becomes PETSc's own factor, after its symbolic factorization. `row`, `column`: null where there is no order yet.
PetscErrorCode GiveWay(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, const char why[])
{
  const MatFactorType kind = F->factortype;
  const char         *prefix;
  Mat                 other;
  IS                  own[2] = {nullptr, nullptr};

  PetscFunctionBegin;
  PetscCall(PetscInfo(F, "PETSc's factorization takes the place of ours: %s\n", why));
  PetscCall(MatGetOptionsPrefix(F, &prefix));
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, kind, &other));
  PetscCall(MatSetOptionsPrefix(other, prefix));
  PetscCall(MatHeaderReplace(F, &other));
  if (!row) PetscCall(MatGetOrdering(A, MATORDERINGND, &own[0], &own[1]));
  if (kind == MAT_FACTOR_LU)
    PetscCall((*F->ops->lufactorsymbolic)(F, A, row ? row : own[0], row ? column : own[1], info));
  else
    PetscCall((*F->ops->choleskyfactorsymbolic)(F, A, row ? row : own[0], info));
  for (IS &is : own) PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `ours`, unless PETSc's factor is to take its place: *why then, else null.
template <class Ours> PetscErrorCode Try(Mat F, Mat A, const MatFactorInfo *info, const Ours &ours, const char **why)
{
  bool lacks = false;

  PetscFunctionBegin;
  *why = nullptr;
  if (!MayBecomeOther(F, A)) {
    PetscCall(ours());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *why = ReasonFor(info);
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayLackMemory(ours, &lacks));
  if (lacks) *why = "ours lacks memory";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values may ask for what those before did not.
PetscErrorCode Numeric(Mat F, Mat A, const MatFactorInfo *info)
{
  const char *why;

  PetscFunctionBegin;
  PetscCall(Try(
      F, A, info, [&] { return MatFactorNumeric_Direct(F, A, info); }, &why));
  if (!why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GiveWay(F, A, nullptr, nullptr, info, why));
  if (F->factortype == MAT_FACTOR_LU)
    PetscCall((*F->ops->lufactornumeric)(F, A, info));
  else
    PetscCall((*F->ops->choleskyfactornumeric)(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  const DirectKind kind = F->factortype == MAT_FACTOR_LU ? DirectKind::LU : DirectKind::Cholesky;
  const char      *why;

  PetscFunctionBegin;
  PetscCall(Try(
      F, A, info, [&] { return BeginDirect(F, A, row, column, info, kind); }, &why));
  if (why)
    PetscCall(GiveWay(F, A, row, column, info, why));
  else
    F->ops->lufactornumeric = F->ops->choleskyfactornumeric = Numeric;
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
  MatInfo info;
  Space   space;

  PetscFunctionBegin;
  *takes = false;
  if (A->rmap->n < LEAST_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  const bool fills = info.nz_used > WITHOUT_FILL * static_cast<PetscLogDouble>(A->rmap->n);
  if (!fills && A->rmap->n < LEAST_WITHOUT_FILL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FactorSpace(A, &space));
  *takes = space == Space::Device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MayGiveWay(Mat F)
{
  char **const preferred = const_cast<char **>(&F->preferredordering[MAT_FACTOR_CHOLESKY]);

  PetscFunctionBegin;
  F->ops->lufactorsymbolic       = Symbolic;
  F->ops->choleskyfactorsymbolic = SymbolicCholesky;
  // a PC asks for the order that the first of its factors preferred, whose ever the next ones are
  PetscCall(PetscFree(*preferred));
  PetscCall(PetscStrallocpy(MATORDERINGLEASTFILL, preferred));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
