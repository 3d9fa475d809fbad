/// Becoming one of our types, and plain AIJ again.
#include <petscdm.h>
#include "mat/face/context.hpp"
#include "mat/face/operations.hpp"
#include "mat/face/parallel_coo.hpp"
#include "mat/face/value_operations.hpp"

namespace sparsegpu::face
{

PetscErrorCode Compose(Mat A, bool parallel, bool on)
{
  PetscObject o    = (PetscObject)A;
  const auto  from = on ? MatConvert_Any_SparseGPU : nullptr;

  PetscFunctionBegin;
  if (parallel) {
    PetscCall(PetscObjectComposeFunction(o, "MatConvert_mpiaij_mpiaijsparsegpu_C", from));
    PetscCall(PetscObjectComposeFunction(o, "MatConvert_mpiaij_sparsegpu_C", from));
  } else {
    PetscCall(PetscObjectComposeFunction(o, "MatConvert_seqaij_seqaijsparsegpu_C", from));
    PetscCall(PetscObjectComposeFunction(o, "MatConvert_seqaij_sparsegpu_C", from));
  }
  PetscCall(PetscObjectComposeFunction(o, "MatProductSetFromOptions_anytype_C",
                                       on ? MatProductSetFromOptions_SparseGPU : nullptr));
  PetscCall(PetscObjectComposeFunction(o, "MatRetrieveValues_C", on ? MatRetrieveValues_SparseGPU : nullptr));
  PetscCall(ComposeCoo(A, parallel, on));
  PetscCall(ComposeAtHome(A, parallel, on));
  PetscCall(
      PetscObjectComposeFunction(o, "MatAXPYGetPreallocation_C", on ? MatAXPYGetPreallocation_SparseGPU : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NameTypeForDM(Mat A)
{
  PetscObject object;
  PetscBool   same;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, "__PETSc_dm", &object));
  for (DM dm = reinterpret_cast<DM>(object); dm;) {
    PetscCall(DMGetMatType(dm, &type));
    PetscCall(PetscStrcmp(type, MATSPARSEGPU, &same));
    if (same) PetscCall(DMSetMatType(dm, MATAIJSPARSEGPU));
    PetscCall(DMGetCoarseDM(dm, &dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product of matrices lives where its first operand of ours does.
static PetscErrorCode InheritFromOperands(Mat A)
{
  PetscFunctionBegin;
  for (Mat operand : {A->product->A, A->product->B, A->product->C}) {
    PetscBool seq = PETSC_FALSE, mpi = PETSC_FALSE;
    if (operand) PetscCall(IsOurs(operand, &seq, &mpi));
    if (!seq && !mpi) continue;
    PetscCall(InheritSettings(operand, A));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BecomeOurs(Mat A, bool parallel)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq || mpi) PetscFunctionReturn(PETSC_SUCCESS);
  A->ops->duplicate = MatDuplicate_SparseGPU;
  if (A->ops->createsubmatrix)
    A->ops->createsubmatrix = MatCreateSubMatrix_SparseGPU; // else PETSc goes by createsubmatrices
  A->ops->transpose             = MatTranspose_SparseGPU;
  A->ops->createsubmatrices     = MatCreateSubMatrices_SparseGPU;
  A->ops->permute               = MatPermute_SparseGPU;
  A->ops->setfromoptions        = MatSetFromOptions_SparseGPU;
  A->ops->view                  = MatView_SparseGPU;
  A->ops->productsetfromoptions = MatProductSetFromOptions_SparseGPU_Alike;
  A->ops->bindtocpu             = MatBindToCPU_SparseGPU;
  A->ops->destroy               = MatDestroy_SparseGPU;
  A->ops->convert               = MatConvert_SparseGPU_Any;
  A->ops->convertfrom           = MatConvert_Any_SparseGPU;
  PetscCall(parallel ? SetOps_MPI(A) : SetOps_Seq(A));
  PetscCall(Compose(A, parallel, true));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parallel ? MATMPIAIJSPARSEGPU : MATSEQAIJSPARSEGPU));
  A->spptr = nullptr;
  PetscCall(DropStash(A));
  PetscCall(GetContext(A, &context));
  PetscCall(ReadBackendDefault(A, context));
  PetscCall(ChooseVecType(A, context));
  if (A->product) {
    context->stays_home = true; // PETSc writes results without an accessor
    PetscCall(InheritFromOperands(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BecomeParent(Mat A, bool parallel)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(BringHome(A));
  PetscCall(GetParentOps(parallel, &parent));
  if (parallel) PetscCall(BlocksBecomeParents(A));
#define RESTORE(op) A->ops->op = parent->op
  RESTORE(duplicate);
  RESTORE(createsubmatrix);
  RESTORE(createsubmatrices);
  RESTORE(transpose);
  RESTORE(permute);
  RESTORE(setfromoptions);
  RESTORE(view);
  RESTORE(productsetfromoptions);
  RESTORE(bindtocpu);
  RESTORE(destroy);
  RESTORE(getvecs);
  RESTORE(convert);
  RESTORE(convertfrom);
  RESTORE(assemblybegin);
  RESTORE(assemblyend);
  RESTORE(getrowij);
  RESTORE(mult);
  RESTORE(multadd);
  RESTORE(multtranspose);
  RESTORE(multtransposeadd);
  RESTORE(multhermitiantranspose);
  RESTORE(multhermitiantransposeadd);
#undef RESTORE
  PetscCall(parallel ? SetParallelValueOperations(A, false) : SetValueOperations(A, false));
  PetscCall(Compose(A, parallel, false));
  for (const char *name : {"MatSetPreallocationCOO_C", "MatSetValuesCOO_C", "MatRetrieveValues_C", "MatSeqAIJKron_C"}) {
    if (parallel && !strcmp(name, "MatSeqAIJKron_C")) continue;
    AnyFunction f;
    PetscCall(GetParentFunction(parallel, name, &f));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, f));
  }
  PetscCall(parallel ? KeepParallelCoordinates(A) : KeepCoordinates(A));
  PetscCall(DestroyContext(A));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatSetVecType(A, VECSTANDARD));
  A->boundtocpu = PETSC_TRUE; // as a plain one is born
#endif
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parallel ? MATMPIAIJ : MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
