/// Forward and backward solves, and right-hand sides that are sparse.
#include "pc/lu/other_solves.hpp"
#include <petsc/private/matimpl.h>
#include "pc/factor/arrays.hpp"
#include "pc/factor/matsolver.hpp"
#include "pc/lu/factorize.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
/// Whether the factors are two triangles, and for Cholesky have roots of pivots.
PetscErrorCode CheckHalves(Mat F)
{
  const DirectFactor *factor   = DirectOf(F);
  const LuReport     &report   = factor->FrontsReport();
  const bool          cholesky = factor->wanted == DirectKind::Cholesky;

  PetscFunctionBegin;
  PetscCheck(!factor->Pivoted(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "No forward and backward solves: partial pivoting on the host took over (-mat_sparsegpu_lu_pivoted off)");
  PetscCheck(factor->kind == factor->wanted, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "No forward and backward solves: fronts had no pivots for L D L^T, and LU with matched rows took over");
  PetscCheck(!cholesky || !PetscDefined(USE_COMPLEX) || factor->hermitian, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "No forward and backward solves: the pivots of a complex matrix that is not Hermitian are not real "
             "(MAT_HERMITIAN says that one is)");
  PetscCheck(!cholesky || (report.negative == 0 && report.perturbed == 0), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "No forward and backward solves: pivots must be positive, and %" PetscInt_FMT " are not",
             report.negative + report.perturbed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveHalf(Mat F, Vec b, Vec x, bool forward)
{
  DirectFactor *factor = DirectOf(F);

  PetscFunctionBegin;
  if (F->factorerrortype) { // MatSolve() asks before it calls
    PetscCall(PetscInfo(F, "MatFactorError %d\n", (int)F->factorerrortype));
    PetscCall(VecSet(x, PETSC_INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckHalves(F));
  PetscCall(PetscLogEventBegin(TrisolveEvent, F, b, x, nullptr));
  PetscCall(SolveVector(b, x, factor->Where(), &factor->staging,
                        [&](PetscInt, const Scalar *from, PetscInt, Scalar *to, PetscInt) {
                          return factor->SolveHalf(forward, from, to);
                        }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, F, b, x, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatForwardSolve_Direct(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveHalf(F, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatBackwardSolve_Direct(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveHalf(F, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatTransposeSolve_Direct(Mat F, Mat B, Mat X)
{
  PetscInt  columns, given;
  PetscBool sparse;
  Mat       D;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQAIJ, &sparse));
  PetscCheck(sparse, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s solves with the rows of matrices of type %s, not %s",
             MATSOLVERSPARSEGPU, MATSEQAIJ, ((PetscObject)B)->type_name);
  PetscCall(MatGetSize(B, &columns, nullptr));
  PetscCall(MatGetSize(X, nullptr, &given));
  PetscCheck(given == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "X has %" PetscInt_FMT " columns, B has %" PetscInt_FMT " rows", given, columns);
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatConvert(D, MATSEQDENSE, MAT_INPLACE_MATRIX, &D));
  PetscCall((*F->ops->matsolve)(F, D, X));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
