/// PETSc's operations that both types have alike: copies and parts of a matrix, products by type name, views, the end.
#include "mat/face/operations.hpp"
#include "mat/face/context.hpp"
#include "mat/face/dense.hpp"
#include "mat/face/host_products.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_products.hpp"
#include "mat/face/pattern.hpp"
#include "mat/face/sparse_products.hpp"
#include "mat/face/value_operations.hpp"
#include "mat/face/view_away.hpp"

namespace sparsegpu::face
{

/// The type name that PETSc's products know.
static const char *ProductName(Mat A)
{
  const char *name = ((PetscObject)A)->type_name;
  PetscBool   same;
  PetscCallAbort(PETSC_COMM_SELF, PetscStrcmp(name, MATSEQAIJSPARSEGPU, &same));
  if (same) return MATSEQAIJ;
  PetscCallAbort(PETSC_COMM_SELF, PetscStrcmp(name, MATMPIAIJSPARSEGPU, &same));
  return same ? MATMPIAIJ : name;
}

/// Of operands that are all of one of our types.
PetscErrorCode MatProductSetFromOptions_SparseGPU_Alike(Mat D)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;
  bool                  set;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_SparseGPU_Sparse(D, &set));
  if (!set) PetscCall(MatProductSetFromOptions_SparseGPU_Parallel(D, &set));
  if (set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OperandsStayHome(D));
  PetscCall(IsOurs(D->product->A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall((*parent->productsetfromoptions)(D));
  PetscCall(ComputeAtHome(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatProduct looks implementations up by literal type names; look again with plain AIJ in the place of ours.
PetscErrorCode MatProductSetFromOptions_SparseGPU(Mat D)
{
  Mat_Product *product    = D->product;
  Mat          operand[3] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : nullptr};
  char         name[256];
  PetscErrorCode (*f)(Mat) = nullptr;
  bool set;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_SparseGPU_Dense(D, &set));
  if (set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(name, "MatProductSetFromOptions", sizeof(name)));
  for (Mat A : operand) {
    if (!A) continue;
    PetscCall(PetscStrlcat(name, "_", sizeof(name)));
    PetscCall(PetscStrlcat(name, ProductName(A), sizeof(name)));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof(name)));
  for (Mat A : operand)
    if (A && !f) PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &f));
  PetscCall(OperandsStayHome(D));
  if (f) PetscCall((*f)(D));
  PetscCall(ComputeAtHome(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The choices of A are B's, a copy with A's pattern and, if `values`, its values, until it is asked to differ. In
/// parallel the blocks are copied one by one.
static PetscErrorCode InheritChoices(Mat A, Mat B, bool values)
{
  PetscObjectState state;

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
  PetscCall(from->rows.GetPattern(A, &csr, &key));
  PetscCall(PetscObjectStateGet((PetscObject)B, &state));
  PetscCall(choice::InheritChoices(A, from, csr, key, values, state + 1, to)); // MatDuplicate() moves it once more
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDuplicate_SparseGPU(Mat A, MatDuplicateOption option, Mat *B)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;
  bool                  away = false, done = false;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  if (seq && option == MAT_COPY_VALUES) PetscCall(IsAway(A, &away));
  PetscCall(BringPatternHome(A));
  {
    BlocksMayLeave scope; // PETSc has the blocks duplicated by this function
    if (mpi) PetscCall(scope.Begin(A));
    PetscCall((*parent->duplicate)(A, away ? MAT_DO_NOT_COPY_VALUES : option, B));
    PetscCall(scope.End());
  }
  PetscCall(InheritSettings(A, *B));
  if (mpi) PetscCall(TakeBlocks(*B));
  if (away) PetscCall(CopyValuesThere(A, *B, &done));
  if (away && !done) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  PetscCall(InheritChoices(A, *B, option == MAT_COPY_VALUES));
  PetscCall(InheritCoo(A, *B));
  if (seq) { // blocks are copied one by one, each to its place
    Context *from, *to;
    PetscCall(GetContext(A, &from));
    PetscCall(GetContext(*B, &to));
    to->settings.off_diagonal = from->settings.off_diagonal;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc writes new values into the old transpose without an accessor, here and in the next two.
PetscErrorCode MatTranspose_SparseGPU(Mat A, MatReuse reuse, Mat *B)
{
  const struct _MatOps *parent;
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(BringHome(*B));
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  {
    const AtHomeScope scope;
    PetscCall((*parent->transpose)(A, reuse, B));
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
  if (reuse == MAT_REUSE_MATRIX) PetscCall(BringHome(*B));
  {
    const AtHomeScope scope;
    PetscCall((*parent->createsubmatrix)(A, rows, cols, reuse, B));
  }
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
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; k++) PetscCall(BringHome((*B)[k]));
  {
    const AtHomeScope scope;
    PetscCall((*parent->createsubmatrices)(A, n, rows, cols, reuse, B));
  }
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
  {
    const AtHomeScope scope;
    PetscCall((*parent->permute)(A, rows, cols, B));
  }
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
  bool                  away;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(GetParentOps(mpi, &parent));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(LooksAway(A, ascii && format == PETSC_VIEWER_ASCII_INFO, &away));
  if (away) { // what AIJ says of a matrix without inodes, which has been looked for in no pattern that is away
    PetscCall(PetscViewerASCIIPrintf(viewer, "not using I-node routines\n"));
  } else {
    PetscCall(BringHome(A));
    PetscCall((*parent->view)(A, viewer));
  }
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
  PetscCall(BringHome(A));
  PetscCall(GetParentFunction(mpi, "MatRetrieveValues_C", &parent));
  const AtHomeScope scope;
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
  // MatHeaderMerge() keeps the list of functions for A's new insides, and a list that began here would have no owner
  if (((PetscObject)A)->qlist) PetscCall(Compose(A, mpi, false));
  PetscCall(StashSettings(A));
  PetscCall(DestroyContext(A));
  PetscCall((*parent->destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
