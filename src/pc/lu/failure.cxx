/// Structural singularity is told apart from numeric failure by a matching that ignores the values.
#include "pc/lu/failure.hpp"
#include <petsc/private/matimpl.h>
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
#define SINGULAR \
  "The matrix is structurally singular: no row is left for column %" PetscInt_FMT " that has a nonzero there"

/// A column that no row is left for with any values; -1: none.
PetscErrorCode StructuralColumn(const CsrView &A, PetscInt *column)
{
  std::vector<Scalar> ones;
  Matching            matching;

  PetscFunctionBegin;
  PetscCallCXX(ones.assign(A.nonzeros, Scalar(1)));
  PetscCall(MaximumProduct(CsrView{A.rows, A.cols, A.nonzeros, A.i, A.j, ones.data()}, &matching));
  *column = matching.unmatched;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Marks F as structurally singular: no values can succeed.
PetscErrorCode TellStructure(Mat F, PetscInt column)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(F, SINGULAR "\n", column));
  F->factorerrortype             = MAT_FACTOR_STRUCT_ZEROPIVOT;
  F->factorerror_zeropivot_value = 0;
  F->factorerror_zeropivot_row   = column;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode TellFailure(Mat F, Mat A, const CsrView &B)
{
  DirectFactor   *factor     = DirectOf(F);
  const LuReport &report     = factor->Report();
  const PetscInt  column     = factor->SingularColumn();
  const PetscInt  row        = report.first >= 0 ? factor->MatrixRow(report.first) : -1;
  PetscInt        structural = -1;

  PetscFunctionBegin;
  if (column >= 0 || factor->options.matching == 2) PetscCall(StructuralColumn(B, &structural));
  if (structural >= 0) {
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, structural);
    PetscCall(TellStructure(F, structural));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
  F->factorerror_zeropivot_value = column >= 0 ? 0 : report.smallest;
  F->factorerror_zeropivot_row   = column >= 0 ? column : row;
  if (column >= 0) {
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, column);
    PetscCall(PetscInfo(F, SINGULAR "\n", column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const char *const why = !report.finite         ? "the factors are not finite"
                          : report.perturbed > 0 ? "the matrix is singular to rounding"
                                                 : "entries have grown until the factors were useless";
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot row %" PetscInt_FMT " value %g: %s", row, (double)report.smallest, why);
  PetscCall(PetscInfo(F, "Zero pivot row %" PetscInt_FMT " value %g: %s\n", row, (double)report.smallest, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TellSingularAnalysis(Mat F, Mat A, const CsrView &B)
{
  const PetscInt column = DirectOf(F)->SingularColumn();
  PetscInt       structural;

  PetscFunctionBegin;
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, column);
  PetscCall(StructuralColumn(B, &structural));
  if (structural < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TellStructure(F, structural));
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
