/// What a factorization does with a Mat: its options, its rows, and another analysis where the values ask for one.
#include "pc/lu/factorize.hpp"
#include <petsc/private/matimpl.h>
#include "pc/factor/rows.hpp"
#include "pc/lu/attempt.hpp"
#include "pc/lu/failure.hpp"
#include "pc/lu/reorder.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::lu
{

namespace
{
/// Between PetscOptionsBegin() and its end, where an error would lose what the former allocates: checked later.
static PetscErrorCode OfferOptions(SparseGPUOptionItems PetscOptionsObject, LuOptions *o, PetscInt *spins,
                                   char matching[64])
{
  const char *const page = "MATSOLVERSPARSEGPU";

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_lu_refine",
                            "Steps of iterative refinement at most, before GMRES; 0: neither", page, o->refine,
                            &o->refine, nullptr));
  PetscCall(PetscOptionsString(
      "-mat_sparsegpu_lu_matching",
      "Rows moved and scaled for a strong diagonal: auto (where it is weak or pivots are poor), on, off", page,
      matching, matching, 64, nullptr));
  PetscCall(PetscOptionsReal("-mat_sparsegpu_lu_exchange",
                             "Rows of a tile change places where a pivot is smaller than this part of its column", page,
                             o->exchange, &o->exchange, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_lu_spins",
                            "On a GPU: polls without any progress after which a factorization or solve gives up", page,
                            *spins, spins, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOptions(Mat F, Mat A)
{
  LuOptions   wanted = DirectOf(F)->options;
  const char *prefix = ((PetscObject)F)->prefix ? ((PetscObject)F)->prefix : ((PetscObject)A)->prefix;
  PetscInt    spins  = static_cast<PetscInt>(wanted.spins);
  PetscBool   known  = PETSC_FALSE;
  char        matching[64];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(matching, LuMatchingNames[wanted.matching], sizeof(matching)));
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), prefix, "Direct factorizations of sparsegpu", "Mat");
  PetscOptionsObject->options = ((PetscObject)A)->options;
  PetscCall(OfferOptions(PetscOptionsObject, &wanted, &spins, matching));
  PetscOptionsEnd();
  PetscCheck(spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_spins %" PetscInt_FMT " must be positive", spins);
  PetscCheck(wanted.refine >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_refine %" PetscInt_FMT " must not be negative", wanted.refine);
  PetscCheck(wanted.exchange >= 0 && wanted.exchange <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_exchange %g must be between 0 and 1", (double)wanted.exchange);
  for (PetscInt k = 0; k < 3; k++)
    if (!strcmp(matching, LuMatchingNames[k])) {
      wanted.matching = k;
      known           = PETSC_TRUE;
    }
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_sparsegpu_lu_matching %s must be auto, on or off",
             matching);
  wanted.spins         = spins;
  DirectOf(F)->options = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void TakeInfo(Mat F)
{
  const DirectFactor *factor = DirectOf(F);
  F->info.factor_mallocs     = 0;
  F->info.nz_used            = static_cast<PetscLogDouble>(factor->Nonzeros());
  F->info.nz_allocated       = F->info.nz_used;
  F->info.fill_ratio_needed  = factor->MatrixNonzeros() ? F->info.nz_used / factor->MatrixNonzeros() : 0;
  F->info.memory             = factor->Bytes();
}

/// A poor factorization is replaced by LU with rows matched for these values; so is Cholesky's, whose pivots stay on
/// the diagonal. *changed: the analysis is another one.
PetscErrorCode Replace(Mat F, const CsrView &A, Reordering *reordering, bool *changed)
{
  DirectFactor    *factor = DirectOf(F);
  const DirectKind before = factor->kind;

  PetscFunctionBegin;
  factor->kind = DirectKind::LU;
  PetscCall(factor->MatchAgain(A, Reorder, reordering, changed));
  if (!*changed) factor->kind = before;
  if (*changed && before == DirectKind::Cholesky) factor->gave_way++;
  if (*changed)
    PetscCall(PetscInfo(F, before == DirectKind::Cholesky
                               ? "The diagonal has no pivots for L D L^T: LU with matched rows\n"
                               : "The pivots are poor: rows are matched for these values\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatFactorNumeric_Direct(Mat F, Mat A, const MatFactorInfo *info)
{
  const auto    type   = static_cast<MatFactorShiftType>(static_cast<int>(info->shifttype));
  DirectFactor *factor = DirectOf(F);
  Reordering    reordering{F, A};
  HostRows      matrix;
  MatrixRows    rows;
  const Scalar *a;
  Quality       quality;
  bool          changed;

  PetscFunctionBegin;
  if (F->factorerrortype == MAT_FACTOR_STRUCT_ZEROPIVOT) PetscFunctionReturn(PETSC_SUCCESS); // singular for all values
  PetscCheck(type == MAT_SHIFT_NONE || type == MAT_SHIFT_INBLOCKS, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s replaces small pivots: -pc_factor_shift_type %s is not supported, none and inblocks are",
             MATSOLVERSPARSEGPU, MatFactorShiftTypes[type]);
  factor->replace = type == MAT_SHIFT_INBLOCKS ? info->shiftamount : 0;
  factor->strict  = A->erroriffailure == PETSC_TRUE;
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
  if (factor->wanted == DirectKind::Cholesky && factor->kind == DirectKind::LU && factor->gave_way < 2) {
    if (!matrix.csr.i) PetscCall(matrix.Take(rows));
    factor->kind = DirectKind::Cholesky;
    PetscCall(factor->Symbolic(matrix.csr, factor->order, factor->order, Reorder, &reordering, factor->Where()));
  }
  PetscCall(Attempt(F, a, factor->options.matching != 2 && !factor->Matched(), &quality));
  if (quality != Quality::Good && factor->options.matching != 2) {
    if (!matrix.csr.i) PetscCall(matrix.Take(rows));
    PetscCall(Replace(F, matrix.csr, &reordering, &changed));
    if (changed) PetscCall(Attempt(F, a, false, &quality));
  } else {
    factor->gave_way = 0;
  }
  TakeInfo(F);
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (quality == Quality::Usable)
    PetscCall(PetscInfo(F, "Solves will not reach the backward error %g\n", (double)factor->Goal(false)));
  if (quality == Quality::Bad) {
    if (!matrix.csr.i) PetscCall(matrix.Take(rows));
    PetscCall(TellFailure(F, A, matrix.csr));
  }
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorSymbolic_Direct(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind)
{
  DirectFactor         *factor = DirectOf(F);
  const PetscInt       *indices;
  std::vector<PetscInt> r, c;
  HostRows              matrix;
  MatrixRows            rows;
  Reordering            reordering{F, A};
  Space                 space;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A factorization needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  factor->hermitian = PetscDefined(USE_COMPLEX) && kind == DirectKind::Cholesky && A->hermitian == PETSC_BOOL3_TRUE;
  PetscCall(ReadOptions(F, A));
  PetscCall(GetMatrixRows(A, &rows));
  PetscCall(matrix.Take(rows));
  PetscCall(ISGetIndices(row, &indices));
  PetscCallCXX(r.assign(indices, indices + A->rmap->n));
  PetscCall(ISRestoreIndices(row, &indices));
  PetscCall(ISGetIndices(column, &indices));
  PetscCallCXX(c.assign(indices, indices + A->rmap->n));
  PetscCall(ISRestoreIndices(column, &indices));
  PetscCall(FactorSpace(A, &space));
  factor->kind = factor->wanted = kind;
  factor->gave_way              = 0;
  if (kind == DirectKind::Cholesky) PetscCallCXX(factor->order = r);
  PetscCall(factor->Symbolic(matrix.csr, std::move(r), std::move(c), Reorder, &reordering, space));
  F->info.fill_ratio_given = info->fill;
  F->factorerrortype       = MAT_FACTOR_NOERROR;
  TakeInfo(F);
  if (factor->SingularColumn() < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TellSingularAnalysis(F, A, matrix.csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
