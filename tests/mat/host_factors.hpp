/// The kinds of factorization, each by the calls that PETSc has for it.
#pragma once

#include "../family.hpp"

namespace testing
{

struct Kind {
  const char   *pc;
  MatFactorType factor;
};
constexpr Kind LU = {PCLU, MAT_FACTOR_LU}, CHOLESKY = {PCCHOLESKY, MAT_FACTOR_CHOLESKY}, QR = {PCQR, MAT_FACTOR_QR},
               ILU = {PCILU, MAT_FACTOR_ILU}, ICC = {PCICC, MAT_FACTOR_ICC};
constexpr Kind KINDS[] = {LU, CHOLESKY, ILU, ICC, QR};

inline PetscErrorCode Symbolic(Mat F, Mat A, Kind kind)
{
  IS            row, column;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill   = 5;
  info.levels = 1;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
  if (kind.factor == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(F, A, row, column, &info));
  if (kind.factor == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, A, row, column, &info));
  if (kind.factor == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(F, A, row, &info));
  if (kind.factor == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(F, A, row, &info));
  if (kind.factor == MAT_FACTOR_QR) PetscCall(MatQRFactorSymbolic(F, A, column, &info));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode Numeric(Mat F, Mat A, Kind kind)
{
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  if (kind.factor == MAT_FACTOR_QR)
    PetscCall(MatQRFactorNumeric(F, A, &info));
  else if (kind.factor == MAT_FACTOR_CHOLESKY || kind.factor == MAT_FACTOR_ICC)
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  else
    PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
