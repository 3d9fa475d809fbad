/// MATSOLVERSPARSEGPU: the factor as PETSc sees it.
#include "mat/face/context.hpp"
#include "pc/ilu/factor.hpp"
#include "pc/lu/matsolver.hpp"

namespace sparsegpu
{

Factor *FactorOf(Mat F)
{
  return static_cast<Factor *>(F->data);
}

PetscErrorCode WantsFacts(PetscViewer viewer, bool *wanted)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  *wanted = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  *wanted = format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetMatrixRows(Mat A, MatrixRows *m)
{
  PetscBool    seq, mpi;
  PetscScalar *a;
  PetscMemType where;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) {
    Context *context;
    PetscCall(GetContext(A, &context));
    PetscCall(GetCsr(A, &m->csr, nullptr));
    PetscCall(DeviceValues(A, context, &m->device_values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &m->csr.i, &m->csr.j, &a, &where));
  m->csr.a     = reinterpret_cast<const Scalar *>(a);
  m->csr.rows  = A->rmap->n;
  m->csr.cols  = A->cmap->n;
  m->on_device = PetscMemTypeDevice(where);
  if (!m->on_device) {
    m->csr.nonzeros = m->csr.rows ? m->csr.i[m->csr.rows] : 0;
  } else {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    m->csr.nonzeros = 0;
    if (m->csr.rows) PetscCall(DeviceCopyOut(&m->csr.nonzeros, m->csr.i + m->csr.rows, sizeof(PetscInt), stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesOnDevice(const MatrixRows &rows, DeviceMemory *room, const Scalar **a)
{
  const size_t bytes = static_cast<size_t>(rows.csr.nonzeros) * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  *a = rows.on_device ? rows.csr.a : rows.device_values;
  if (*a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(room->Reserve(bytes));
  PetscCall(DeviceCopyIn(room->data(), rows.csr.a, bytes, stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  *a = static_cast<const Scalar *>(room->data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorSpace(Mat A, Space *space)
{
  PetscBool seq, mpi, cusparse, kokkos;
  Context  *context;

  PetscFunctionBegin;
  *space = Space::Host;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, "seqaijcusparse", &cusparse));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, "seqaijkokkos", &kokkos));
  if (seq) {
    PetscCall(GetContext(A, &context));
    PetscCall(Decide(A, context));
    PetscCall(PlannedSpace(context, space));
  } else if (cusparse || kokkos) {
    PetscBool found;
    PetscCall(DeviceFound(&found));
    if (!found) PetscFunctionReturn(PETSC_SUCCESS);
    MatrixRows rows;
    PetscCall(GetMatrixRows(A, &rows));
    if (rows.on_device) *space = Space::Device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode MatFactorNumeric_SparseGPU(Mat F, Mat A, const MatFactorInfo *info)
{
  MatrixRows rows;

  PetscFunctionBegin;
  PetscCall(GetMatrixRows(A, &rows));
  PetscCheck(rows.csr.nonzeros == FactorOf(F)->MatrixNonzeros(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has %" PetscInt_FMT " nonzeros, the symbolic factorization was made for %" PetscInt_FMT,
             rows.csr.nonzeros, FactorOf(F)->MatrixNonzeros());
  PetscCall(FactorOf(F)->Numeric(F, A, rows, *info));
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->Solve(b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatSolveTranspose_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->Solve(b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatForwardSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveHalf(b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatBackwardSolve_SparseGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveHalf(b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_SparseGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveMany(B, X, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolveTranspose_SparseGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(FactorOf(F)->SolveMany(B, X, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options of the factor, or of its matrix where the factor has no prefix: all of them are right, or none is taken.
PetscErrorCode ReadFactorOptions(Mat F, Mat A)
{
  Factor         *factor = FactorOf(F);
  TrisolveOptions wanted = factor->options;
  const char     *prefix = ((PetscObject)F)->prefix ? ((PetscObject)F)->prefix : ((PetscObject)A)->prefix;
  PetscOptions    db     = ((PetscObject)A)->options;
  char            name[64];
  PetscInt        spins = 1;
  PetscBool       set, check = factor->check ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(db, prefix, "-mat_sparsegpu_trisolve", name, sizeof(name), &set));
  if (set && !factor->engine_is_set) PetscCall(ParseEngine(name, &wanted.engine));
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_trisolve_spins", &spins, &set));
  PetscCheck(spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_spins %" PetscInt_FMT " must be positive", spins);
  if (set) wanted.spins = spins;
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_trisolve_warps", &wanted.warps, nullptr));
  PetscCheck(wanted.warps >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_warps %" PetscInt_FMT " must be positive, or 0 for the default", wanted.warps);
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_trisolve_tile", &wanted.tile, nullptr));
  PetscCheck(wanted.tile == 0 || wanted.tile == 1 || wanted.tile == 4 || wanted.tile == 8, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_tile %" PetscInt_FMT " must be 1, 4 or 8 warps, or 0 for the default",
             wanted.tile);
  PetscCall(PetscOptionsGetInt(db, prefix, "-mat_sparsegpu_trisolve_sweeps", &wanted.sweeps, nullptr));
  PetscCheck(wanted.sweeps >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_trisolve_sweeps %" PetscInt_FMT " must be non-negative", wanted.sweeps);
  PetscCall(PetscOptionsGetBool(db, prefix, "-mat_sparsegpu_trisolve_check", &check, nullptr));
  factor->options = wanted;
  factor->check   = check == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info, Incomplete kind)
{
  MatrixRows rows;
  Space      space;
  Factor    *factor = FactorOf(F);

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "An incomplete factorization needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n,
             A->cmap->n);
  PetscCheck(info->levels >= 0, PETSC_COMM_SELF, PETSC_ERR_USER, "Levels of fill must be non-negative, not %g",
             (double)info->levels);
  PetscCheck(info->dt <= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s has no drop tolerance (asked for: %g)",
             MATSOLVERSPARSEGPU, (double)info->dt);
  if (factor->kind != Incomplete::None) factor->kind = kind;
  PetscCall(ReadFactorOptions(F, A));
  PetscCall(FactorSpace(A, &space));
  PetscCall(GetMatrixRows(A, &rows));
  PetscCall(factor->Symbolic(F, rows, row, column, *info, space));
  F->info.factor_mallocs    = 0;
  F->info.fill_ratio_given  = info->fill;
  F->info.fill_ratio_needed = rows.csr.nonzeros ? (double)factor->Nonzeros() / rows.csr.nonzeros : 0;
  F->info.nz_used = F->info.nz_allocated = factor->Nonzeros();
  F->info.memory                         = factor->Bytes();
  F->ops->lufactornumeric                = MatFactorNumeric_SparseGPU;
  F->ops->choleskyfactornumeric          = MatFactorNumeric_SparseGPU;
  F->ops->solve                          = MatSolve_SparseGPU;
  F->ops->solvetranspose                 = MatSolveTranspose_SparseGPU;
  F->ops->matsolve                       = MatMatSolve_SparseGPU;
  F->ops->matsolvetranspose              = MatMatSolveTranspose_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatILUFactorSymbolic_SparseGPU(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, row, column, info, Incomplete::LU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatICCFactorSymbolic_SparseGPU(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, order, order, info, Incomplete::Cholesky));
  F->ops->forwardsolve  = MatForwardSolve_SparseGPU; // of ILU there are none, as in PETSc
  F->ops->backwardsolve = MatBackwardSolve_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Factor(Mat F, PetscViewer viewer)
{
  bool wanted;

  PetscFunctionBegin;
  PetscCall(WantsFacts(viewer, &wanted));
  if (wanted) PetscCall(FactorOf(F)->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of incomplete and of direct factors.
PetscErrorCode MatGetInfo_Factor(Mat F, MatInfoType, MatInfo *info)
{
  PetscFunctionBegin;
  *info            = F->info;
  info->block_size = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Factor(Mat F)
{
  PetscFunctionBegin;
  std::unique_ptr<Factor> factor(FactorOf(F));
  F->data = nullptr;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
  PetscCall(factor->Finish()); // the last chance to tell
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_SparseGPU(Mat, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERSPARSEGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCallCXX(F->data = new Factor);
  F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SparseGPU;
  F->ops->iccfactorsymbolic = MatICCFactorSymbolic_SparseGPU;
  F->ops->view              = MatView_Factor;
  F->ops->destroy           = MatDestroy_Factor;
  for (const MatFactorType f : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(PetscStrallocpy(MATORDERINGNATURAL, const_cast<char **>(&F->preferredordering[f])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_SparseGPU(Mat A, MatFactorType kind, Mat *F)
{
  Mat       B;
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &known, MATSEQAIJ, MATSEQAIJSPARSEGPU, "seqaijcusparse",
                                      "seqaijkokkos", "seqaijperm", ""));
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s factors matrices of type %s, %s, seqaijcusparse and seqaijkokkos, not %s", MATSOLVERSPARSEGPU,
             MATSEQAIJ, MATSEQAIJSPARSEGPU, ((PetscObject)A)->type_name);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  if (kind == MAT_FACTOR_LU || kind == MAT_FACTOR_CHOLESKY)
    PetscCall(FillDirectFactor(B));
  else
    PetscCall(FillFactor(B));
  B->ops->getinfo   = MatGetInfo_Factor;
  B->factortype     = kind;
  B->canuseordering = PETSC_TRUE;
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", MatFactorGetSolverType_SparseGPU));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static bool is_default = false;

PetscErrorCode RegisterFactors()
{
  PetscFunctionBegin;
  is_default = false;
  // By the name of the parent type, which stands for all types whose names begin so: PETSc's own stays the default.
  for (const MatFactorType f : {MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    PetscCall(MatSolverTypeRegister(MATSOLVERSPARSEGPU, MATSEQAIJ, f, MatGetFactor_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterDefaultFactors()
{
  PetscFunctionBegin;
  if (is_default) PetscFunctionReturn(PETSC_SUCCESS);
  is_default = true;
  // Under the full name of the type PETSc finds it before all that are there for the parent type
  for (const MatFactorType f : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(MatSolverTypeRegister(MATSOLVERSPARSEGPU, MATSEQAIJSPARSEGPU, f, MatGetFactor_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
