/// MATMPIAIJSPARSEGPU: diagonal and off-diagonal block each a MATSEQAIJSPARSEGPU, the halo exchange overlapped with the
/// diagonal block's product.
#include <algorithm>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
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
/// All that products of this rank take memory for.
PetscErrorCode BuildBlocks(Mat A, Operation operation, Space space, bool copies)
{
  Mat              blocks[2];
  Context         *context;
  ConvertedMatrix *converted;
  LocalArray       ghosts;

  PetscFunctionBegin;
  if (space == Space::Device) PetscCall(RequireDevice("-sparsegpu_backend cuda"));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  PetscCall(GetContext(A, &context));
  if (space == Space::Device) { // takes memory there when it is first written to
    PetscCall(ghosts.Get(context->halo.ghosts(space), Space::Device, Access::Write));
    PetscCall(ghosts.Restore());
  }
  for (Mat block : blocks) {
    PetscCall(GetContext(block, &context));
    PetscCall(GetConverted(block, context, operation, space, Use::Prepare, &converted));
    if (copies) PetscCall(ReserveScratch(block, context, operation));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Everything a product needs, once per change of the matrix: collective, so that an error on one rank (a format that
/// refuses its block, no memory) is an error on all of them, and none waits in the exchange.
PetscErrorCode Prepare(Mat A, Operation operation, Vec x, Vec z, Context **out, Space *where)
{
  Context *context;
  Version  version;
  Space    space;
  bool     copies = false;

  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (operation == Operation::ConjugateTranspose) operation = Operation::Transpose;
#endif
  PetscCall(GetContext(A, &context));
  *out = context;
  PetscCall(GetVersion(A, context, &version));
  PetscCall(Decide(A, context));
  PetscCall(ProductSpace(context, x, z, &space, &copies));
  *where           = space;
  Version *agreed  = &context->agreed[static_cast<int>(space)][static_cast<int>(operation)];
  bool    *scratch = &context->agreed_scratch[static_cast<int>(operation)];
  if (*agreed == version && (!copies || *scratch)) PetscFunctionReturn(PETSC_SUCCESS);

  struct {
    int code, rank;
  } mine, worst;
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(ConvertBlocks(A));
  PetscCall(context->halo.Prepare(A, space));
  mine.code = static_cast<int>(BuildBlocks(A, operation, space, copies));
  mine.rank = rank;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, PetscObjectComm((PetscObject)A)));
  PetscCheck(!mine.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(mine.code), "Rank %d cannot convert its block",
             (int)rank);
  PetscCheck(!worst.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(worst.code),
             "Rank %d cannot convert its block: see its message", worst.rank);
  *agreed  = version;
  *scratch = *scratch || copies;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A x + y
PetscErrorCode MultPlain(Mat A, Vec x, Vec y, Vec z)
{
  Context   *context;
  Mat        diagonal, off;
  Space      space;
  LocalArray owned, ghosts;

  PetscFunctionBegin;
  PetscCall(Prepare(A, Operation::Normal, x, z, &context, &space));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(owned.Get(x, space, Access::Read));
  PetscCall(ghosts.Get(context->halo.ghosts(space), space, Access::Write));
  PetscCall(PetscSFBcastWithMemTypeBegin(context->halo.forest(), MPIU_SCALAR, owned.where(), owned.read(),
                                         ghosts.where(), ghosts.write(), MPI_REPLACE));
  PetscCall(MultLocal(diagonal, Operation::Normal, space, x, y, z));
  PetscCall(PetscSFBcastEnd(context->halo.forest(), MPIU_SCALAR, owned.read(), ghosts.write(), MPI_REPLACE));
  PetscCall(owned.Restore());
  PetscCall(ghosts.Restore());
  PetscCall(MultLocal(off, Operation::Normal, space, context->halo.ghosts(space), z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A^T x + y, or A^H
PetscErrorCode MultTransposed(Mat A, Operation operation, Vec x, Vec y, Vec z)
{
  Context   *context;
  Mat        diagonal, off;
  Space      space;
  LocalArray ghosts, owned;

  PetscFunctionBegin;
  PetscCall(Prepare(A, operation, x, z, &context, &space));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(MultLocal(off, operation, space, x, nullptr, context->halo.ghosts(space)));
  PetscCall(MultLocal(diagonal, operation, space, x, y, z));
  PetscCall(ghosts.Get(context->halo.ghosts(space), space, Access::Read));
  PetscCall(owned.Get(z, space, Access::ReadWrite));
  PetscCall(PetscSFReduceWithMemTypeBegin(context->halo.forest(), MPIU_SCALAR, ghosts.where(), ghosts.read(),
                                          owned.where(), owned.write(), MPIU_SUM));
  PetscCall(PetscSFReduceEnd(context->halo.forest(), MPIU_SCALAR, ghosts.read(), owned.write(), MPIU_SUM));
  PetscCall(ghosts.Restore());
  PetscCall(owned.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscErrorCode Multiply(Mat A, Operation operation, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(operation == Operation::Normal ? MultPlain(A, x, y, z) : MultTransposed(A, operation, x, y, z));
  PetscCall(SendBlocksAwayForTests(A));
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
  Products<Multiply>::Set(A->ops);
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

PetscErrorCode PrepareToTell(Mat A)
{
  Context *context;
  Space    space;

  PetscFunctionBegin;
  PetscCall(Prepare(A, Operation::Normal, nullptr, nullptr, &context, &space));
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
