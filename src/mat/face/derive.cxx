/// What both types do alike: becoming one of ours, becoming plain AIJ again, products by type name.
#include <petscdm.h>
#include "mat/face/context.hpp"

namespace sparsegpu
{

namespace
{
/// The type name that PETSc's products know.
const char *ProductName(Mat A)
{
  const char *name = ((PetscObject)A)->type_name;
  PetscBool   same;
  PetscCallAbort(PETSC_COMM_SELF, PetscStrcmp(name, MATSEQAIJSPARSEGPU, &same));
  if (same) return MATSEQAIJ;
  PetscCallAbort(PETSC_COMM_SELF, PetscStrcmp(name, MATMPIAIJSPARSEGPU, &same));
  return same ? MATMPIAIJ : name;
}

/// MatProduct looks implementations up by literal type names; look again with plain AIJ in the place of ours.
PetscErrorCode MatProductSetFromOptions_SparseGPU(Mat D)
{
  Mat_Product *product    = D->product;
  Mat          operand[3] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : nullptr};
  char         name[256];
  PetscErrorCode (*f)(Mat) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, "MatProductSetFromOptions", sizeof(name)));
  for (Mat A : operand) {
    if (!A) continue;
    PetscCall(PetscStrlcat(name, "_", sizeof(name)));
    PetscCall(PetscStrlcat(name, ProductName(A), sizeof(name)));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof(name)));
  for (Mat A : operand)
    if (A && !f) PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &f));
  if (f) PetscCall((*f)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The choices of A are B's, a copy with A's pattern, until it is asked to differ. In parallel the blocks are copied
/// one by one.
PetscErrorCode InheritChoices(Mat A, Mat B)
{
  PetscBool  seq, mpi, b_seq;
  Context   *from, *to;
  CsrView    csr;
  PatternKey key;

  PetscFunctionBegin;
  PetscCall(IsOurs(B, &b_seq, &mpi));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq || !b_seq || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &from));
  PetscCall(GetContext(B, &to));
  PetscCall(from->rows.GetHost(A, &csr, &key));
  InheritChoices(from, csr, key, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDuplicate_SparseGPU(Mat A, MatDuplicateOption option, Mat *B)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->duplicate)(A, option, B));
  PetscCall(InheritSettings(A, *B));
  PetscCall(InheritChoices(A, *B));
  PetscCall(InheritCoo(A, *B));
  if (seq) { // blocks are copied one by one, each to its place
    Context *from, *to;
    PetscCall(GetContext(A, &from));
    PetscCall(GetContext(*B, &to));
    to->settings.off_diagonal = from->settings.off_diagonal;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateSubMatrix_SparseGPU(Mat A, IS rows, IS cols, MatReuse reuse, Mat *B)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->createsubmatrix)(A, rows, cols, reuse, B));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(InheritSettings(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateSubMatrices_SparseGPU(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                              Mat *B[])
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->createsubmatrices)(A, n, rows, cols, reuse, B));
  for (PetscInt k = 0; k < n && reuse == MAT_INITIAL_MATRIX; k++) PetscCall(InheritSettings(A, (*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's parallel one gives plain AIJ.
PetscErrorCode MatPermute_SparseGPU(Mat A, IS rows, IS cols, Mat *B)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->permute)(A, rows, cols, B));
  PetscCall(BecomeOurs(*B, mpi));
  PetscCall(InheritSettings(A, *B));
  PetscCall(PassSettingsOn(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_SparseGPU(Mat A, SparseGPUOptionItems items)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;
  Context              *context;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  if (parent->setfromoptions) PetscCall((*parent->setfromoptions)(A, items));
  PetscCall(GetContext(A, &context));
  PetscCall(ReadOptions(A, context, items));
  context->settings.strict = true;
  PetscCall(ForgetConverted(A));
  PetscCall(ChooseVecType(A, context));
  PetscCall(PassSettingsOn(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_SparseGPU(Mat A, PetscViewer viewer)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi, ascii;
  PetscViewerFormat     format;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->view)(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (ascii && A->assembled && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL))
    PetscCall(ViewInfo(A, viewer, format == PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBindToCPU_SparseGPU(Mat A, PetscBool flag)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  context->settings.bound_to_cpu = flag;
  PetscCall(ForgetAgreement(A));
  PetscCall(ChooseVecType(A, context));
  PetscCall(PassSettingsOn(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's changes the values and not the object state.
PetscErrorCode MatRetrieveValues_SparseGPU(Mat A)
{
  AnyFunction parent;
  PetscBool   seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentFunction(mpi, "MatRetrieveValues_C", &parent));
  PetscCall((*reinterpret_cast<PetscErrorCode (*)(Mat)>(parent))(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_SparseGPU(Mat A)
{
  const struct _MatOps *parent;
  PetscBool             mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJSPARSEGPU, &mpi));
  // MatHeaderMerge() hides the type name during the destruction: the size of the operations tells no more, so ask ours
  if (!((PetscObject)A)->type_name)
    mpi = A->ops->assemblyend == MatAssemblyEnd_MPIAIJSparseGPU ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall(Compose(A, mpi, false));
  PetscCall(StashSettings(A));
  PetscCall(DestroyContext(A));
  PetscCall((*parent->destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

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
  A->ops->createsubmatrices = MatCreateSubMatrices_SparseGPU;
  A->ops->permute           = MatPermute_SparseGPU;
  A->ops->setfromoptions    = MatSetFromOptions_SparseGPU;
  A->ops->view              = MatView_SparseGPU;
  A->ops->bindtocpu         = MatBindToCPU_SparseGPU;
  A->ops->destroy           = MatDestroy_SparseGPU;
  A->ops->convert           = MatConvert_SparseGPU_Any;
  A->ops->convertfrom       = MatConvert_Any_SparseGPU;
  PetscCall(parallel ? SetOps_MPI(A) : SetOps_Seq(A));
  PetscCall(Compose(A, parallel, true));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parallel ? MATMPIAIJSPARSEGPU : MATSEQAIJSPARSEGPU));
  A->spptr = nullptr;
  PetscCall(DropStash(A));
  PetscCall(GetContext(A, &context));
  PetscCall(ReadBackendDefault(A, context));
  PetscCall(ChooseVecType(A, context));
  if (A->product) PetscCall(InheritFromOperands(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BecomeParent(Mat A, bool parallel)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(GetParentOps(parallel, &parent));
  if (parallel) PetscCall(BlocksBecomeParents(A));
#define RESTORE(op) A->ops->op = parent->op
  RESTORE(duplicate);
  RESTORE(createsubmatrix);
  RESTORE(createsubmatrices);
  RESTORE(permute);
  RESTORE(setfromoptions);
  RESTORE(view);
  RESTORE(bindtocpu);
  RESTORE(destroy);
  RESTORE(convert);
  RESTORE(convertfrom);
  RESTORE(assemblyend);
  RESTORE(getrowij);
  RESTORE(mult);
  RESTORE(multadd);
  RESTORE(multtranspose);
  RESTORE(multtransposeadd);
  RESTORE(multhermitiantranspose);
  RESTORE(multhermitiantransposeadd);
#undef RESTORE
  PetscCall(Compose(A, parallel, false));
  for (const char *name : {"MatSetPreallocationCOO_C", "MatSetValuesCOO_C", "MatRetrieveValues_C", "MatSeqAIJKron_C"}) {
    if (parallel && !strcmp(name, "MatSeqAIJKron_C")) continue;
    AnyFunction f;
    PetscCall(GetParentFunction(parallel, name, &f));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, f));
  }
  PetscCall(DestroyContext(A));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatSetVecType(A, VECSTANDARD));
  A->boundtocpu = PETSC_TRUE; // as a plain one is born
#endif
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parallel ? MATMPIAIJ : MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
