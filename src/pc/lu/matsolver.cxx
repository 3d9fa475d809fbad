/// MATSOLVERSPARSEGPU of LU and Cholesky factorizations: the factor as PETSc sees it.
#include <petsc/private/matimpl.h>
#include <algorithm>
#include "mat/context.hpp"
#include "pc/ilu/factor.hpp"
#include "pc/lu/direct.hpp"
#include "pc/lu/matsolver.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu
{

namespace
{
DirectFactor *DirectOf(Mat F)
{
  return static_cast<DirectFactor *>(F->data);
}

#define SINGULAR \
  "The matrix is structurally singular: no row is left for column %" PetscInt_FMT " that has a nonzero there"

/// A's rows and values on the host, copied where the matrix keeps them on the device.
struct HostMatrix {
  CsrView               csr;
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;

  PetscErrorCode Take(const MatrixRows &rows)
  {
    Stream stream;

    PetscFunctionBegin;
    csr = rows.csr;
    if (!rows.on_device) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(DeviceStream(&stream));
    PetscCallCXX(i.assign(static_cast<size_t>(csr.rows) + 1, 0));
    PetscCallCXX(j.resize(csr.nonzeros));
    PetscCallCXX(a.resize(csr.nonzeros));
    if (csr.rows > 0) PetscCall(DeviceCopyOut(i.data(), csr.i, i.size() * sizeof(PetscInt), stream));
    PetscCall(DeviceCopyOut(j.data(), csr.j, j.size() * sizeof(PetscInt), stream));
    PetscCall(DeviceCopyOut(a.data(), csr.a, a.size() * sizeof(Scalar), stream));
    csr = CsrView{csr.rows, csr.cols, csr.nonzeros, i.data(), j.data(), a.data()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

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

/// Is the factorization good enough for refinement to get solutions from it?
PetscErrorCode Judge(Mat F, bool *good)
{
  DirectFactor   *factor = DirectOf(F);
  const LuReport &report = factor->Report();
  PetscReal       error  = PETSC_INFINITY;

  PetscFunctionBegin;
  *good = report.finite;
  if (factor->options.refine == 0 || (report.perturbed == 0 && !factor->MayMatch())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor->Probe(good, &error));
  PetscCall(PetscInfo(F, "Replaced %" PetscInt_FMT " pivots, the smallest %g; backward error after refinement %g\n",
                      report.perturbed, (double)report.smallest, (double)error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Replacing pivots by sqrt(eps) lets refinement converge fast, unless the matrix is worse conditioned than that: then
/// all that is not rounding error is kept. What still must be replaced makes the matrix singular to rounding, even if
/// solutions as large as that have small backward errors.
PetscErrorCode Attempt(Mat F, const Scalar *a, bool *good)
{
  DirectFactor   *factor = DirectOf(F);
  const PetscReal usual  = PetscSqrtReal(PETSC_MACHINE_EPSILON);

  PetscFunctionBegin;
  PetscCall(factor->Numeric(a));
  PetscCall(Judge(F, good));
  if (*good || factor->Report().perturbed == 0 || factor->small < usual) PetscFunctionReturn(PETSC_SUCCESS);
  factor->small = 10 * PETSC_MACHINE_EPSILON;
  PetscCall(factor->Numeric(a));
  PetscCall(Judge(F, good));
  *good = *good && factor->Report().perturbed == 0;
  if (!*good) factor->small = usual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TellFailure(Mat F, Mat A)
{
  DirectFactor   *factor = DirectOf(F);
  const LuReport &report = factor->Report();
  const PetscInt  row    = report.first >= 0 ? factor->MatrixRow(report.first) : -1;

  PetscFunctionBegin;
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot row %" PetscInt_FMT " value %g: %s", row, (double)report.smallest,
             report.finite ? "the matrix is singular to rounding" : "the factors are not finite");
  F->factorerrortype             = report.finite ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  F->factorerror_zeropivot_value = report.smallest;
  F->factorerror_zeropivot_row   = row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorNumeric_Direct(Mat F, Mat A, const MatFactorInfo *info)
{
  const auto    type   = static_cast<MatFactorShiftType>(static_cast<int>(info->shifttype));
  DirectFactor *factor = DirectOf(F);
  HostMatrix    matrix;
  MatrixRows    rows;
  const Scalar *a;
  bool          good;

  PetscFunctionBegin;
  PetscCheck(type == MAT_SHIFT_NONE || type == MAT_SHIFT_INBLOCKS, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s replaces small pivots: -pc_factor_shift_type %s is not supported, none and inblocks are",
             MATSOLVERSPARSEGPU, MatFactorShiftTypes[type]);
  factor->replace = type == MAT_SHIFT_INBLOCKS ? info->shiftamount : 0;
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
  PetscCall(Attempt(F, a, &good));
  if (!good && factor->MayMatch()) {
    if (factor->Where() == Space::Device) PetscCall(matrix.Take(rows));
    const PetscInt        matching = factor->options.matching;
    std::vector<PetscInt> natural;
    Reordering            reordering{F, A};
    PetscCall(PetscInfo(F, "The diagonal will not do: rows are matched\n"));
    PetscCallCXX(natural.resize(matrix.csr.rows));
    for (PetscInt k = 0; k < matrix.csr.rows; k++) natural[k] = k;
    factor->options.matching = 1;
    PetscCall(factor->Symbolic(matrix.csr, natural, natural, Reorder, &reordering, factor->Where()));
    factor->options.matching = matching;
    if (factor->SingularColumn() >= 0) {
      PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, factor->SingularColumn());
      PetscCall(PetscInfo(F, SINGULAR "\n", factor->SingularColumn()));
      F->factorerrortype             = MAT_FACTOR_STRUCT_ZEROPIVOT;
      F->factorerror_zeropivot_value = 0;
      F->factorerror_zeropivot_row   = factor->SingularColumn();
      F->assembled = F->preallocated = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Attempt(F, a, &good));
    TakeInfo(F);
  }
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (!good) PetscCall(TellFailure(F, A));
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transpose)
{
  DirectFactor *factor = DirectOf(F);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, F, b, x, nullptr));
  PetscCall(SolveVector(b, x, factor->Where(), &factor->staging,
                        [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
                          return factor->Solve(count, from, ldb, to, ldx, transpose);
                        }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, F, b, x, nullptr));
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

PetscErrorCode SolveMany(Mat F, Mat B, Mat X, bool transpose)
{
  DirectFactor *factor = DirectOf(F);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(TrisolveEvent, F, B, X, nullptr));
  PetscCall(SolveColumns(B, X, factor->Where(), &factor->staging,
                         [&](PetscInt count, const Scalar *from, PetscInt ldb, Scalar *to, PetscInt ldx) {
                           return factor->Solve(count, from, ldb, to, ldx, transpose);
                         }));
  PetscCall(PetscLogEventEnd(TrisolveEvent, F, B, X, nullptr));
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

#if !defined(PETSC_USE_COMPLEX)
PetscErrorCode MatGetInertia_Direct(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  const LuReport &report = DirectOf(F)->Report();

  PetscFunctionBegin;
  PetscCheck(report.perturbed == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The inertia is not known: %" PetscInt_FMT " pivots, the smallest %g, were replaced", report.perturbed,
             (double)report.smallest);
  if (negative) *negative = report.negative;
  if (zero) *zero = 0;
  if (positive) *positive = DirectOf(F)->Rows() - report.negative;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, DirectKind kind)
{
  DirectFactor         *factor = DirectOf(F);
  const PetscInt       *indices;
  std::vector<PetscInt> r, c;
  HostMatrix            matrix;
  MatrixRows            rows;
  Reordering            reordering{F, A};
  Space                 space;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A factorization needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  factor->kind      = kind;
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
  PetscCall(factor->Symbolic(matrix.csr, std::move(r), std::move(c), Reorder, &reordering, space));
  PetscCheck(factor->SingularColumn() < 0, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, SINGULAR, factor->SingularColumn());
  F->info.fill_ratio_given = info->fill;
  TakeInfo(F);
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = MatFactorNumeric_Direct;
  F->ops->solve                                           = MatSolve_Direct;
  F->ops->solvetranspose                                  = MatSolveTranspose_Direct;
  F->ops->matsolve                                        = MatMatSolve_Direct;
  F->ops->matsolvetranspose                               = MatMatSolveTranspose_Direct;
#if !defined(PETSC_USE_COMPLEX)
  F->ops->getinertia = kind == DirectKind::Cholesky ? MatGetInertia_Direct : nullptr;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatLUFactorSymbolic_Direct(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, row, column, info, DirectKind::LU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatCholeskyFactorSymbolic_Direct(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, order, order, info, DirectKind::Cholesky));
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
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FillDirectFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCallCXX(F->data = new DirectFactor);
  F->ops->lufactorsymbolic       = MatLUFactorSymbolic_Direct;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Direct;
  F->ops->view                   = MatView_Direct;
  F->ops->destroy                = MatDestroy_Direct;
  for (const MatFactorType f : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    PetscCall(PetscStrallocpy(MATORDERINGLEASTFILL, const_cast<char **>(&F->preferredordering[f])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
