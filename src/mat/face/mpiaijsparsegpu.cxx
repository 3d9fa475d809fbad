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
