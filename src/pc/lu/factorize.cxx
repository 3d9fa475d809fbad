/// What a factorization does with a Mat: its options, its rows, and another analysis where the values ask for one.
#include "pc/lu/factorize.hpp"
#include <petsc/private/matimpl.h>
#include "pc/factor/rows.hpp"
#include "pc/lu/failure.hpp"
#include "pc/lu/options.hpp"
#include "pc/lu/schur.hpp"
#include "pc/lu/trial.hpp"
#include "pc/ordering/leastfill.hpp"
#include "pc/ordering/matrix.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

void TakeInfo(Mat F)
{
  const DirectFactor *factor = DirectOf(F);
  F->info.factor_mallocs     = 0;
  F->info.nz_used            = static_cast<PetscLogDouble>(factor->Nonzeros());
  F->info.nz_allocated       = F->info.nz_used;
  F->info.fill_ratio_needed  = factor->MatrixNonzeros() ? F->info.nz_used / factor->MatrixNonzeros() : 0;
  F->info.memory             = factor->Bytes();
}

namespace
{
/// What F tells of a factorization.
PetscErrorCode EndNumeric(Mat F, Mat A, const MatrixRows &rows, HostRows *matrix, Quality quality)
{
  PetscFunctionBegin;
  TakeInfo(F);
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (quality == Quality::Usable)
    PetscCall(PetscInfo(F, "Solves will not reach the backward error %g\n", (double)DirectOf(F)->Goal(false)));
  if (quality == Quality::Bad) {
    if (!matrix->csr.i) PetscCall(matrix->Take(rows));
    PetscCall(TellFailure(F, A, matrix->csr));
  }
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

MatFactorShiftType ShiftOf(const MatFactorInfo *info)
{
  return static_cast<MatFactorShiftType>(static_cast<int>(info->shifttype));
}

PetscErrorCode MatFactorNumeric_Direct(Mat F, Mat A, const MatFactorInfo *info)
{
  const auto    type   = ShiftOf(info);
  DirectFactor *factor = DirectOf(F);
  Reordering    reordering{F, A, Space::Host, &factor->ordered_by};
  HostRows      matrix;
  MatrixRows    rows;
  const Scalar *a;
  Quality       quality;

  PetscFunctionBegin;
  if (F->factorerrortype == MAT_FACTOR_STRUCT_ZEROPIVOT) PetscFunctionReturn(PETSC_SUCCESS); // singular for all values
  PetscCheck(type == MAT_SHIFT_NONE || type == MAT_SHIFT_INBLOCKS, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s replaces small pivots: -pc_factor_shift_type %s is not supported, none and inblocks are",
             MATSOLVERSPARSEGPU, MatFactorShiftTypes[type]);
  factor->replace = type == MAT_SHIFT_INBLOCKS ? info->shiftamount : 0;
  factor->strict  = A->erroriffailure == PETSC_TRUE;
  factor->Unpivot(); // the fronts' space again
  reordering.space       = factor->Where();
  factor->tried_pivoting = false;
  PetscCall(GetMatrixRows(A, &rows));
  PetscCheck(rows.csr.nonzeros == factor->MatrixNonzeros(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has %" PetscInt_FMT " nonzeros, the symbolic factorization was made for %" PetscInt_FMT,
             rows.csr.nonzeros, factor->MatrixNonzeros());
  if (factor->Where() == Space::Host) {
    PetscCall(matrix.Take(rows));
    a = matrix.csr.a;
  } else {
    PetscCall(ValuesOnDevice(rows, &factor->matrix, &a));
  }
  if (!factor->schur.empty()) {
    bool good;
    PetscCall(SchurNumeric(F, A, a, &good));
    quality = good ? Quality::Good : Quality::Bad;
    PetscCall(EndNumeric(F, A, rows, &matrix, quality));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (factor->wanted == DirectKind::Cholesky && factor->kind == DirectKind::LU && factor->gave_way < 2) {
    if (!matrix.csr.i) PetscCall(matrix.Take(rows));
    factor->kind = DirectKind::Cholesky;
    PetscCallCXX(factor->ordered_by = factor->order_by);
    PetscCall(factor->Symbolic(matrix.csr, factor->order, factor->order, Reorder, &reordering, factor->Where()));
  }
  PetscCall(Trial(F, rows, &matrix, &reordering, a).Run(&quality));
  PetscCall(EndNumeric(F, A, rows, &matrix, quality));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorSymbolic_Direct(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind)
{
  DirectFactor         *factor = DirectOf(F);
  std::vector<PetscInt> r, c;
  HostRows              matrix;
  MatrixRows            rows;
  Reordering            reordering{F, A, Space::Host, &factor->ordered_by};
  Space                 space;
  bool                  asked;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A factorization needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  factor->hermitian = PetscDefined(USE_COMPLEX) && kind == DirectKind::Cholesky && A->hermitian == PETSC_BOOL3_TRUE;
  PetscCall(ReadOptions(F, A));
  PetscCall(GetMatrixRows(A, &rows));
  PetscCall(matrix.Take(rows));
  PetscCall(FactorSpace(A, &space, &asked));
  factor->may_move = factor->options.host == 1 || (factor->options.host == 0 && !asked);
  reordering.space = factor->options.host == 1 ? Space::Host : space;
  factor->kind = factor->wanted = kind;
  factor->ordered_by.clear();
  if (row && column) PetscCall(ordering::GetTaken(row, &factor->ordered_by));
  const bool ordered = row && column && factor->ordered_by != ordering::NOT_YET; // else MATORDERINGEXTERNAL
  if (ordered) {
    PetscCall(ordering::TakeIndices(row, &r));
    PetscCall(ordering::TakeIndices(column, &c));
  } else {
    factor->ordered_by.clear();
  }
  if (!factor->schur.empty()) {
    PetscCheck(r == c, PETSC_COMM_SELF, PETSC_ERR_SUP, "With a Schur complement rows and columns have one order");
    PetscCall(SchurOrder(&reordering, matrix.csr, std::vector<PetscInt>(std::move(r)), &c));
    PetscCallCXX(r = c);
  }
  factor->gave_way        = 0;
  factor->needed_pivoting = false;
  PetscCall(factor->Symbolic(matrix.csr, std::move(r), std::move(c), Reorder, &reordering, space));
  if (kind == DirectKind::Cholesky) { // one for pairs of these values is found anew
    factor->order.clear();
    if (ordered || !factor->schur.empty() || !factor->Paired()) PetscCallCXX(factor->order = factor->ColumnOrder());
    PetscCallCXX(factor->order_by = factor->ordered_by);
  }
  F->info.fill_ratio_given = info->fill;
  F->factorerrortype       = MAT_FACTOR_NOERROR;
  TakeInfo(F);
  if (factor->SingularColumn() < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TellSingularAnalysis(F, A, matrix.csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
