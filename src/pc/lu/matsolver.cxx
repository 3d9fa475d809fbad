/// MATSOLVERSPARSEGPU of LU and Cholesky factorizations: the factor as PETSc sees it.
#include <petsc/private/matimpl.h>
#include "pc/factor/matsolver.hpp"
#include "pc/lu/attempt.hpp"
#include "pc/lu/by_default.hpp"
#include "pc/lu/factorize.hpp"
#include "pc/lu/inertia.hpp"
#include "pc/lu/matsolver.hpp"
#include "pc/lu/other_solves.hpp"
#include "pc/lu/schur.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
/// Reports a solve that did not meet its bound. A result without any correct digit must not look like a solution, nor
/// must later ones: the factor is marked as failed, and MatSolve() returns infinities. Other results are kept: they
/// serve as a preconditioner.
PetscErrorCode TellUnsolved(Mat F, Vec x, bool transpose)
{
  DirectFactor   *factor = DirectOf(F);
  const PetscReal error  = factor->Reached();

  PetscFunctionBegin;
  PetscCheck(!factor->strict, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
             "The backward error of a solve is %g after %" PetscInt_FMT
             " steps of refinement, more than %g; %" PetscInt_FMT
             " pivots were replaced (-mat_sparsegpu_lu_matching on or another -pc_factor_mat_ordering_type may help)",
             (double)error, factor->Steps(), (double)factor->Goal(transpose), factor->Report().perturbed);
  PetscCall(PetscInfo(F, "The backward error of a solve is %g after %" PetscInt_FMT " steps of refinement, not %g\n",
                      (double)error, factor->Steps(), (double)factor->Goal(transpose)));
  if (error <= PetscSqrtReal(PETSC_MACHINE_EPSILON)) PetscFunctionReturn(PETSC_SUCCESS);
  F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT; // reset by new values, see TellFailure()
  F->factorerror_zeropivot_value = factor->Report().smallest;
  F->factorerror_zeropivot_row   = factor->Report().first >= 0 ? factor->MatrixRow(factor->Report().first) : -1;
  if (x) PetscCall(VecSet(x, PETSC_INFINITY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns in the factor's space.
PetscErrorCode SolveBlock(Mat F, PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose)
{
  DirectFactor *factor = DirectOf(F);

  PetscFunctionBegin;
  if (factor->schur.empty()) {
    PetscCall(factor->Solve(count, b, ldb, x, ldx, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < count; c++)
    PetscCall(SchurSolve(F, b + static_cast<size_t>(c) * ldb, x + static_cast<size_t>(c) * ldx, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transpose)
{
  DirectFactor *factor = DirectOf(F);
  bool          again  = true;
  const auto    solve  = [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
    return SolveBlock(F, count, from, ldb, to, ldx, transpose);
  };

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, F, b, x, nullptr));
  while (again) {
    PetscCall(SolveVector(b, x, factor->Where(), &factor->staging, solve));
    again = !factor->Solved();
    if (again) PetscCall(Escalate(F, &again));
  }
  PetscCall(PetscLogEventEnd(TrisolveEvent, F, b, x, nullptr));
  if (!factor->Solved()) PetscCall(TellUnsolved(F, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolve_Direct(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolveTranspose_Direct(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As MatSolve() leaves a vector: no solution.
PetscErrorCode FillInfinite(Mat X)
{
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, nullptr, &columns));
  for (PetscInt c = 0; c < columns; c++) {
    Vec x;
    PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
    PetscCall(VecSet(x, PETSC_INFINITY));
    PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveMany(Mat F, Mat B, Mat X, bool transpose)
{
  DirectFactor *factor = DirectOf(F);
  bool          again  = true;
  const auto    solve  = [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
    return SolveBlock(F, count, from, ldb, to, ldx, transpose);
  };

  PetscFunctionBegin;
  if (F->factorerrortype) { // MatSolve() asks before it calls, MatMatSolve() does not
    PetscCall(PetscInfo(F, "MatFactorError %d\n", (int)F->factorerrortype));
    PetscCall(FillInfinite(X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(TrisolveEvent, F, B, X, nullptr));
  while (again) {
    PetscCall(SolveColumns(B, X, factor->Where(), &factor->staging, solve));
    again = !factor->Solved();
    if (again) PetscCall(Escalate(F, &again));
  }
  PetscCall(PetscLogEventEnd(TrisolveEvent, F, B, X, nullptr));
  if (!factor->Solved()) PetscCall(TellUnsolved(F, nullptr, transpose));
  if (F->factorerrortype) PetscCall(FillInfinite(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_Direct(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(SolveMany(F, B, X, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolveTranspose_Direct(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(SolveMany(F, B, X, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLUFactorSymbolic_Direct(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(BeginDirect(F, A, row, column, info, DirectKind::LU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatCholeskyFactorSymbolic_Direct(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(BeginDirect(F, A, order, order, info, DirectKind::Cholesky));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Direct(Mat F, PetscViewer viewer)
{
  bool wanted;

  PetscFunctionBegin;
  PetscCall(WantsFacts(viewer, &wanted));
  if (wanted) PetscCall(DirectOf(F)->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Direct(Mat F)
{
  PetscFunctionBegin;
  delete DirectOf(F);
  F->data = nullptr;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorSetSchurIS_C", nullptr));
  PetscCall(ReleaseFactor(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCallCXX(F->data = new DirectFactor);
  F->ops->lufactorsymbolic       = MatLUFactorSymbolic_Direct;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Direct;
  F->ops->view                   = MatView_Direct;
  F->ops->destroy                = MatDestroy_Direct;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorSetSchurIS_C", MatFactorSetSchurIS_Direct));
  PetscCall(PetscStrallocpy(MATORDERINGLEASTFILL, const_cast<char **>(&F->preferredordering[MAT_FACTOR_LU])));
  // leastfill, too, without PCCHOLESKY's comparison of rows and columns, which takes as long as the ordering
  PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, const_cast<char **>(&F->preferredordering[MAT_FACTOR_CHOLESKY])));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BeginDirect(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind)
{
  PetscFunctionBegin;
  PetscCall(MatFactorSymbolic_Direct(F, A, row, column, info, kind));
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = MatFactorNumeric_Direct;
  F->ops->solve                                           = MatSolve_Direct;
  F->ops->solvetranspose                                  = MatSolveTranspose_Direct;
  F->ops->matsolve                                        = MatMatSolve_Direct;
  F->ops->matsolvetranspose                               = MatMatSolveTranspose_Direct;
  F->ops->mattransposesolve                               = MatMatTransposeSolve_Direct;
  F->ops->forwardsolve                                    = MatForwardSolve_Direct;
  F->ops->backwardsolve                                   = MatBackwardSolve_Direct;
#if !defined(PETSC_USE_COMPLEX)
  F->ops->getinertia = kind == DirectKind::Cholesky ? MatGetInertia_Direct : nullptr;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

DirectFactor *DirectOf(Mat F)
{
  return static_cast<DirectFactor *>(F->data);
}

PetscErrorCode DirectSolved(Mat F, bool *solved)
{
  PetscFunctionBegin;
  *solved = DirectOf(F)->Solved();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterDirectFactors()
{
  PetscFunctionBegin;
  for (const MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    PetscCall(RegisterFactor(kind, FactorMaker{FillFactor, true, TakesByDefault, MayGiveWay}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
