/// MATMPIAIJSPARSEGPU: diagonal and off-diagonal block each a MATSEQAIJSPARSEGPU; assembly and the operations of the
/// type.
#include "mat/face/context.hpp"
#include "mat/face/kept_arrays.hpp"
#include "mat/face/multiply.hpp"
#include "mat/face/parallel_away.hpp"

namespace sparsegpu::face
{

PetscErrorCode ConvertBlocks(Mat A)
{
  Context *context, *block;
  Mat      blocks[2];

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (int b = 0; b < 2; b++) {
    if (!blocks[b]) continue;
    PetscCall(MatConvert_SeqAIJ_SeqAIJSparseGPU(blocks[b], MATSEQAIJSPARSEGPU, MAT_INPLACE_MATRIX, &blocks[b]));
    PetscCall(GetContext(blocks[b], &block));
    block->block = true;
    if (!context->at_home) PetscCall(ComeHome(blocks[b], block)); // values of a block that has come from elsewhere
    if (context->settings.decided) {
      const bool same = block->settings.decided && block->settings.format == context->settings.format &&
                        block->settings.off_diagonal == (b == 1);
      if (!same) PetscCall(ForgetConverted(blocks[b]));
      PetscCallCXX(block->settings = context->settings);
    }
    block->settings.off_diagonal = b == 1;
    block->settings.bound_to_cpu = context->settings.bound_to_cpu;
    PetscCall(ChooseVecType(blocks[b], block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// MatGetOrdering() takes a parallel matrix whose type is not literally MATMPIAIJ for a sequential one, and would read
/// the local rows, whose columns are the whole matrix's, as a graph; newer versions do not even ask whether there are
/// rows to be read.
PetscErrorCode MatGetRowIJ_MPIAIJSparseGPU(Mat A, PetscInt shift, PetscBool symmetric, PetscBool compressed,
                                           PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done)
{
  const struct _MatOps *parent;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCheck(!symmetric || size == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "MatGetOrdering() of a matrix on %d processes is for type %s only, not for %s: use MatConvert()",
             (int)size, MATMPIAIJ, ((PetscObject)A)->type_name);
  *done = PETSC_TRUE; // as MatGetRowIJ() has set it
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->getrowij)(A, shift, symmetric, compressed, n, i, j, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's parallel vectors on a GPU take pinned memory of the host at once, which lasts longer than all that a solver
/// does to set itself up; these take it when somebody reads them there, as those of one process do.
PetscErrorCode CreateVec(Mat A, PetscLayout layout, Vec *v)
{
  PetscFunctionBegin;
  PetscCheck(layout->n >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The matrix has no sizes yet");
  PetscCall(PetscLayoutSetUp(layout));
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  PetscMPIInt size;
  PetscBool   cuda;
  PetscCallMPI(MPI_Comm_size(layout->comm, &size));
  PetscCall(PetscStrcmp(A->defaultvectype, VECCUDA, &cuda));
  if (cuda && size > 1 && !A->boundtocpu) {
    PetscCall(VecCreateMPICUDAWithArray(layout->comm, layout->bs, layout->n, layout->N, nullptr, v));
    PetscCall(VecSetLayout(*v, layout));
    PetscCall(VecSet(*v, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(VecCreate(layout->comm, v));
  PetscCall(VecSetLayout(*v, layout));
  PetscCall(VecSetType(*v, A->defaultvectype));
#if defined(PETSC_HAVE_CUDA)
  if (A->boundtocpu && A->bindingpropagates) {
    PetscCall(VecSetBindingPropagates(*v, PETSC_TRUE));
    PetscCall(VecBindToCPU(*v, PETSC_TRUE));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatCreateVecs_MPIAIJSparseGPU(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  if (right) PetscCall(CreateVec(A, A->cmap, right));
  if (left) PetscCall(CreateVec(A, A->rmap, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Other ranks may have values for this one, which PETSc puts in without MatSetValues().
PetscErrorCode HomeForAssembly(Mat A)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  if (!context->nothing_set && !context->coo_set && !A->nooffprocentries) PetscCall(ComeHome(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyBegin_MPIAIJSparseGPU(Mat A, MatAssemblyType mode)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(HomeForAssembly(A));
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->assemblybegin)(A, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatAssemblyEnd_MPIAIJSparseGPU(Mat A, MatAssemblyType mode)
{
  const struct _MatOps *parent;
  Context              *context;

  PetscFunctionBegin;
  PetscCall(HomeForAssembly(A));
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->assemblyend)(A, mode));
  if (mode != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  context->coo_set = false;
  PetscCall(ConvertBlocks(A));
  PetscCall(NameTypeForDM(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetOps_MPI(Mat A)
{
  PetscFunctionBegin;
  A->ops->assemblybegin = MatAssemblyBegin_MPIAIJSparseGPU;
  A->ops->assemblyend   = MatAssemblyEnd_MPIAIJSparseGPU;
  A->ops->getrowij      = MatGetRowIJ_MPIAIJSparseGPU;
  A->ops->getvecs       = MatCreateVecs_MPIAIJSparseGPU;
  SetKeepersOfArrays(A->ops);
  Products<MultiplyParallel>::Set(A->ops);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PassSettingsOn(Mat A)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (mpi && A->assembled) PetscCall(ConvertBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlocksBecomeParents(Mat A)
{
  Mat blocks[2];

  PetscFunctionBegin;
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks) {
    PetscBool seq, mpi;
    PetscCall(IsOurs(block, &seq, &mpi));
    if (seq) PetscCall(BecomeParent(block, false));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode MatCreate_MPIAIJSparseGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(BecomeOurs(A, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
