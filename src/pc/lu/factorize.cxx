/// What a factorization does with a Mat: its options, its rows, the attempts at its values and what is told of them.
#include "pc/lu/factorize.hpp"
#include <petsc/private/matimpl.h>
#include <algorithm>
#include "pc/factor/rows.hpp"
#include "pc/lu/direct.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu
{

namespace
{
#define SINGULAR \
  "The matrix is structurally singular: no row is left for column %" PetscInt_FMT " that has a nonzero there"

/// An order for a matrix whose rows have been moved: of the type that -pc_factor_mat_ordering_type names, or the one
/// that is preferred here.
struct Reordering {
  Mat F, A;
};
PetscErrorCode Reorder(const CsrView &B, void *context, std::vector<PetscInt> *order)
{
  const Reordering *c      = static_cast<Reordering *>(context);
  const char       *prefix = ((PetscObject)c->F)->prefix ? ((PetscObject)c->F)->prefix : ((PetscObject)c->A)->prefix;
  char              type[64];
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  const PetscInt       *indices;
  PetscBool             set;
  IS                    rows, columns;
  Mat                   M;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(type, MATORDERINGLEASTFILL, sizeof(type)));
  PetscCall(PetscOptionsGetString(((PetscObject)c->A)->options, prefix, "-pc_factor_mat_ordering_type", type,
                                  sizeof(type), &set));
  PetscCallCXX(i.assign(B.i, B.i + B.rows + 1));
  PetscCallCXX(j.assign(B.j, B.j + B.nonzeros));
  PetscCallCXX(a.assign(B.nonzeros, Scalar(1)));
  for (PetscInt r = 0; r < B.rows; r++) std::sort(j.begin() + i[r], j.begin() + i[r + 1]);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B.rows, B.cols, i.data(), j.data(),
                                      reinterpret_cast<PetscScalar *>(a.data()), &M));
  PetscCall(MatGetOrdering(M, type, &rows, &columns));
  PetscCall(ISGetIndices(columns, &indices));
  PetscCallCXX(order->assign(indices, indices + B.rows));
  PetscCall(ISRestoreIndices(columns, &indices));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOptions(Mat F, Mat A)
{
  LuOptions   *options = &DirectOf(F)->options;
  const char  *prefix  = ((PetscObject)F)->prefix ? ((PetscObject)F)->prefix : ((PetscObject)A)->prefix;
  PetscOptions db      = ((PetscObject)A)->options;
  char         name[64];
  PetscInt     spins;
  PetscBool    set, known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_lu_spins", &spins, &set));
  if (set) {
    PetscCheck(spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-mat_sparsegpu_lu_spins %" PetscInt_FMT " must be positive", spins);
    options->spins = spins;
  }
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_lu_refine", &options->refine, &set));
  PetscCheck(options->refine >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_refine %" PetscInt_FMT " must not be negative", options->refine);
  PetscCall(PetscOptionsGetReal(db, prefix, "-mat_sparsegpu_lu_exchange", &options->exchange, &set));
  PetscCheck(options->exchange >= 0 && options->exchange <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_exchange %g must be between 0 and 1", (double)options->exchange);
  PetscCall(PetscOptionsGetString(db, prefix, "-mat_sparsegpu_lu_matching", name, sizeof(name), &set));
  for (PetscInt k = 0; set && k < 3; k++)
    if (!strcmp(name, LuMatchingNames[k])) {
      options->matching = k;
      known             = PETSC_TRUE;
    }
  PetscCheck(!set || known, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_lu_matching %s must be auto, on or off", name);
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

/// What can be had of the factors.
enum class Quality {
  Bad,    ///< the matrix is singular to rounding, or the factors have lost it
  Usable, ///< solutions with correct digits, which refinement does not bring to the bound for all right-hand sides
  Slow,   ///< it does, with many steps
  Good
};
const char *const QualityNames[] = {"bad", "usable", "slow", "good"};

/// A solve is tried where pivots were replaced or entries have grown; else the factorization is as good as one with
/// partial pivoting.
PetscErrorCode Judge(Mat F, Quality *quality)
{
  constexpr PetscReal GROWTH = static_cast<PetscReal>(1e4); // partial pivoting rarely has more
  constexpr PetscInt  FEW    = 20;                          // steps: a factorization costs more solves than that
  DirectFactor       *factor = DirectOf(F);
  const LuReport     &report = factor->Report();
  ResidualSize        size;
  bool                good;

  PetscFunctionBegin;
  *quality = report.finite ? Quality::Good : Quality::Bad;
  if (!report.finite || factor->options.refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (report.perturbed == 0 && report.growth <= GROWTH) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor->Probe(&good, &size));
  if (report.perturbed > 0 && !(size.relative <= SOLVED)) good = false;
  const bool digits = size.error <= PetscSqrtReal(PETSC_MACHINE_EPSILON) && size.relative <= SOLVED;
  // of factors whose entries have grown beyond all digits another right-hand side may know
  const bool grown = !(report.growth * PETSC_MACHINE_EPSILON <= static_cast<PetscReal>(1e-2));
  if (good && !grown)
    *quality = factor->Steps() <= FEW ? Quality::Good : Quality::Slow;
  else
    *quality = good || digits ? Quality::Usable : Quality::Bad;
  PetscCall(PetscInfo(F, "Backward error after %" PetscInt_FMT " steps of refinement %g, relative residual %g: %s\n",
                      factor->Steps(), (double)size.error, (double)size.relative,
                      QualityNames[static_cast<int>(*quality)]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Replacing pivots by sqrt(eps) lets refinement converge fast, unless the matrix is worse conditioned than that: then
/// all that is not rounding error is kept, and what still must be replaced makes the matrix singular to rounding, or
/// has let entries grow. At last few digits are asked of the factors, whose entries then hardly grow, and the rest of
/// GMRES. The thresholds do not depend on values that came before. Where there is an alternative, more pivots than
/// GMRES can make good in a cycle end it at once.
PetscErrorCode Attempt(Mat F, const Scalar *a, bool alternative, Quality *quality)
{
  const PetscReal small[] = {PetscSqrtReal(PETSC_MACHINE_EPSILON), 10 * PETSC_MACHINE_EPSILON,
                             static_cast<PetscReal>(1e-2)};
  DirectFactor   *factor  = DirectOf(F);
  int             best    = 0;

  PetscFunctionBegin;
  *quality = Quality::Bad;
  for (int k = 0; k < 3; k++) {
    Quality now;
    PetscCall(factor->Numeric(a, small[k]));
    const LuReport &report = factor->Report();
    PetscCall(PetscInfo(
        F, "%s on %s, threshold %g: %" PetscInt_FMT " pivots replaced, the smallest %g, growth %g, finite %d\n",
        factor->kind == DirectKind::LU ? "LU" : "Cholesky", factor->Where() == Space::Host ? "the host" : "cuda",
        (double)small[k], report.perturbed, (double)report.smallest, (double)report.growth,
        static_cast<int>(report.finite)));
    PetscCall(Judge(F, &now));
    if (k == 1 && factor->Report().perturbed > 0) now = Quality::Bad;
    if (now > *quality) {
      *quality = now;
      best     = k;
    }
    if (*quality == Quality::Good) PetscFunctionReturn(PETSC_SUCCESS);
    if (alternative && factor->Report().perturbed > LU_BASIS) PetscFunctionReturn(PETSC_SUCCESS);
    if (k == 0 && factor->Report().perturbed == 0) PetscFunctionReturn(PETSC_SUCCESS); // nor with lower thresholds
  }
  if (best < 2 && *quality != Quality::Bad) PetscCall(factor->Numeric(a, small[best]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A factorization that the values have made poor becomes one with rows matched for them; so does Cholesky's, whose
/// pivots stay on the diagonal. *changed: there is another analysis.
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

/// A column that no row is left for whatever the values; -1: none.
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

/// F has failed whatever the values.
PetscErrorCode TellStructure(Mat F, PetscInt column)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(F, SINGULAR "\n", column));
  F->factorerrortype             = MAT_FACTOR_STRUCT_ZEROPIVOT;
  F->factorerror_zeropivot_value = 0;
  F->factorerror_zeropivot_row   = column;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCLU and PCCHOLESKY try new values again after a numeric zero pivot only, so that every failure is told as one but
/// that of the pattern, which Symbolic() looks at only where it matches rows. B: A's rows and values on the host.
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
  if (F->factorerrortype == MAT_FACTOR_STRUCT_ZEROPIVOT) PetscFunctionReturn(PETSC_SUCCESS); // whatever the values
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
  PetscInt              column_left;

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
  // these values leave no row for a column: do others?
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, factor->SingularColumn());
  PetscCall(StructuralColumn(matrix.csr, &column_left));
  if (column_left < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TellStructure(F, column_left));
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
