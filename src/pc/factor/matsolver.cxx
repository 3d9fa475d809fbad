/// Factors as PETSc asks for them by solver type and kind; what they do is in the table that the kinds have filled.
#include "pc/factor/matsolver.hpp"
#include <petsc/private/matimpl.h>
#include "petsc/compat.hpp"
#include "sparsegpu.h"

namespace sparsegpu::factor
{

PetscLogEvent AnalysisEvent, TrisolveEvent;

namespace
{
FactorMaker makers[MAT_FACTOR_NUM_TYPES]; ///< [MatFactorType] fill null: not ours
bool        are_default = false;

PetscErrorCode MatGetInfo_SparseGPUFactor(Mat F, MatInfoType, MatInfo *info)
{
  PetscFunctionBegin;
  *info            = F->info;
  info->block_size = 1;
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
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &known, MATSEQAIJ, MATSEQAIJSPARSEGPU, "seqaijcusparse",
                                      "seqaijkokkos", "seqaijperm", ""));
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s factors matrices of type %s, %s, seqaijcusparse and seqaijkokkos, not %s", MATSOLVERSPARSEGPU,
             MATSEQAIJ, MATSEQAIJSPARSEGPU, ((PetscObject)A)->type_name);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  PetscCall(makers[kind].fill(B));
  B->ops->getinfo   = MatGetInfo_SparseGPUFactor;
  B->factortype     = kind;
  B->canuseordering = PETSC_TRUE;
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSPARSEGPU, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", MatFactorGetSolverType_SparseGPU));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For a matrix whose user has named no solver.
PetscErrorCode MatGetFactor_Default(Mat A, MatFactorType kind, Mat *F)
{
  const FactorMaker &maker = makers[kind];
  bool               takes = true;

  PetscFunctionBegin;
  if (maker.takes) PetscCall(maker.takes(A, &takes));
  if (!takes) {
    PetscCall(MatGetFactor(A, MATSOLVERPETSC, kind, F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetFactor_SparseGPU(A, kind, F));
  if (maker.by_default) PetscCall(maker.by_default(*F));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterFactor(MatFactorType kind, const FactorMaker &maker)
{
  PetscFunctionBegin;
  makers[kind] = maker;
  // By the name of the parent type, which stands for all types whose names begin so: PETSc's own stays the default.
  PetscCall(MatSolverTypeRegister(MATSOLVERSPARSEGPU, MATSEQAIJ, kind, MatGetFactor_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterDefaultFactors()
{
  PetscFunctionBegin;
  if (are_default) PetscFunctionReturn(PETSC_SUCCESS);
  are_default = true;
  // Under the full name of the type PETSc finds it before all that are there for the parent type.
  for (int kind = 0; kind < MAT_FACTOR_NUM_TYPES; kind++)
    if (makers[kind].default_on_device)
      PetscCall(MatSolverTypeRegister(MATSOLVERSPARSEGPU, MATSEQAIJSPARSEGPU, static_cast<MatFactorType>(kind),
                                      MatGetFactor_Default));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ForgetFactors()
{
  for (FactorMaker &maker : makers) maker = FactorMaker();
  are_default = false;
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

PetscErrorCode ReleaseFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::factor
