/// MATSOLVERSPARSEGPU: the factor as PETSc sees it.
#include "mat/context.hpp"
#include "pc/ilu/factor.hpp"

namespace sparsegpu
{

namespace
{
Factor *FactorOf(Mat F)
{
  return static_cast<Factor *>(F->data);
}

} // namespace

PetscErrorCode FactorSpace(Mat A, Space *space)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  *space = Space::Host;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) {
    PetscCall(GetContext(A, &context));
    PetscCall(Decide(A, context));
    PetscCall(PlannedSpace(context, space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode MatLUFactorNumeric_SparseGPU(Mat F, Mat A, const MatFactorInfo *info)
{
  CsrView csr;

  PetscFunctionBegin;
  PetscCall(GetCsr(A, &csr, nullptr));
  PetscCheck(csr.nonzeros == FactorOf(F)->MatrixNonzeros(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has %" PetscInt_FMT " nonzeros, the symbolic factorization was made for %" PetscInt_FMT,
             csr.nonzeros, FactorOf(F)->MatrixNonzeros());
  PetscCall(FactorOf(F)->Numeric(F, A, csr, *info));
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

PetscErrorCode MatILUFactorSymbolic_SparseGPU(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  CsrView csr;
  Space   space;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "ILU needs a square matrix, not %" PetscInt_FMT " x %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  PetscCheck(info->levels >= 0, PETSC_COMM_SELF, PETSC_ERR_USER, "Levels of fill must be positive, not %g",
             (double)info->levels);
  PetscCheck(info->dt <= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s has no drop tolerance (asked for: %g)",
             MATSOLVERSPARSEGPU, (double)info->dt);
  PetscInt  spins;
  PetscBool set;
  PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_sparsegpu_trisolve_spins",
                               &spins, &set));
  if (set) {
    PetscCheck(spins > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-mat_sparsegpu_trisolve_spins %" PetscInt_FMT " must be positive", spins);
    FactorOf(F)->SetSpins(spins);
  }
  PetscInt warps;
  PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_sparsegpu_trisolve_warps",
                               &warps, &set));
  if (set) {
    PetscCheck(warps >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-mat_sparsegpu_trisolve_warps %" PetscInt_FMT " must be positive, or 0 for 8 on each multiprocessor",
               warps);
    FactorOf(F)->SetWarps(warps);
  }
  PetscCall(FactorSpace(A, &space));
  PetscCall(GetCsr(A, &csr, nullptr));
  PetscCall(FactorOf(F)->Symbolic(csr, row, column, *info, space));
  F->info.factor_mallocs    = 0;
  F->info.fill_ratio_given  = info->fill;
  F->info.fill_ratio_needed = csr.nonzeros ? (double)FactorOf(F)->Nonzeros() / csr.nonzeros : 0;
  F->info.nz_used = F->info.nz_allocated = FactorOf(F)->Nonzeros();
  F->info.memory                         = FactorOf(F)->Bytes();
  F->ops->lufactornumeric                = MatLUFactorNumeric_SparseGPU;
  F->ops->solve                          = MatSolve_SparseGPU;
  F->ops->solvetranspose                 = MatSolveTranspose_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Factor(Mat F, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)
    PetscCall(FactorOf(F)->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  delete FactorOf(F);
  F->data = nullptr;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_SparseGPU(Mat, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERSPARSEGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_SparseGPU(Mat A, MatFactorType kind, Mat *F)
{
  Mat       B;
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &known, MATSEQAIJ, MATSEQAIJSPARSEGPU, ""));
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s factors matrices of type %s and %s, not %s", MATSOLVERSPARSEGPU,
             MATSEQAIJ, MATSEQAIJSPARSEGPU, ((PetscObject)A)->type_name); // others may keep their rows on a device
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  PetscCallCXX(B->data = new Factor);
  B->ops->ilufactorsymbolic = MatILUFactorSymbolic_SparseGPU;
  B->ops->getinfo           = MatGetInfo_Factor;
  B->ops->view              = MatView_Factor;
  B->ops->destroy           = MatDestroy_Factor;
  B->factortype             = kind;
  B->canuseordering         = PETSC_TRUE;
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &B->solvertype));
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, const_cast<char **>(&B->preferredordering[MAT_FACTOR_ILU])));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", MatFactorGetSolverType_SparseGPU));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterFactors()
{
  PetscFunctionBegin;
  // By the name of the parent type, which stands for all types whose names begin so: PETSc's own stays the default.
  PetscCall(MatSolverTypeRegister(MATSOLVERSPARSEGPU, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
