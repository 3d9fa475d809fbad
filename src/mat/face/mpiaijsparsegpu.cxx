/// MATMPIAIJSPARSEGPU: diagonal and off-diagonal block each a MATSEQAIJSPARSEGPU, the halo exchange overlapped with the
/// diagonal block's product.
#include <algorithm>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"

namespace sparsegpu
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
    PetscCall(StayHome(blocks[b])); // PETSc reads the values of blocks without an accessor
    PetscCall(GetContext(blocks[b], &block));
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
/// Room for the ghosts of products in `space`: in memory of the device only where PETSc has vectors there.
PetscErrorCode PrepareGhosts(Mat off, Context *context, Space space)
{
  PetscInt n    = -1;
  Space    lies = space;

  PetscFunctionBegin;
  if (context->ghosts) {
    PetscCall(VecGetLocalSize(context->ghosts, &n));
    if (PetscDefined(HAVE_CUDA)) PetscCall(SpaceOf(context->ghosts, &lies));
  }
  if (n == off->cmap->n && lies == space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceOrder()); // products may be reading the ghosts on another stream
  PetscCall(VecDestroy(&context->ghosts));
  PetscCall(VecCreate(PETSC_COMM_SELF, &context->ghosts));
  PetscCall(VecSetSizes(context->ghosts, off->cmap->n, off->cmap->n));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(VecSetType(context->ghosts, space == Space::Device ? VECSEQCUDA : VECSEQ));
#else
  PetscCall(VecSetType(context->ghosts, VECSEQ));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The star forest from owned columns to ghosts, remade (collectively) where any rank's ghosts have changed.
PetscErrorCode PrepareHalo(Mat A, Context *context, Space space)
{
  Mat             diagonal, off;
  const PetscInt *ghosts;
  PetscInt        count;
  PetscMPIInt     stale, any;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &ghosts));
  count = off->cmap->n;
  PetscCall(PrepareGhosts(off, context, space));
  stale = !context->halo || context->halo_columns.size() != static_cast<size_t>(count) ||
          !std::equal(ghosts, ghosts + count, context->halo_columns.begin());
  PetscCallMPI(MPI_Allreduce(&stale, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFDestroy(&context->halo));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &context->halo));
  PetscCall(
      PetscSFSetGraphLayout(context->halo, A->cmap, count, nullptr, PETSC_OWN_POINTER, const_cast<PetscInt *>(ghosts)));
  PetscCall(PetscSFSetUp(context->halo));
  PetscCallCXX(context->halo_columns.assign(ghosts, ghosts + count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
    PetscCall(ghosts.Get(context->ghosts, Space::Device, Access::Write));
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
/// refuses its block, no memory) is an error on all of them and nobody waits in the exchange.
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
  PetscCall(PrepareHalo(A, context, space));
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
PetscErrorCode Mult(Mat A, Vec x, Vec y, Vec z)
{
  Context   *context;
  Mat        diagonal, off;
  Space      space;
  LocalArray owned, ghosts;

  PetscFunctionBegin;
  PetscCall(Prepare(A, Operation::Normal, x, z, &context, &space));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(PrepareGhosts(off, context, space)); // the last product may have been in the other one
  PetscCall(owned.Get(x, space, Access::Read));
  PetscCall(ghosts.Get(context->ghosts, space, Access::Write));
  PetscCall(PetscSFBcastWithMemTypeBegin(context->halo, MPIU_SCALAR, owned.where(), owned.read(), ghosts.where(),
                                         ghosts.write(), MPI_REPLACE));
  PetscCall(MultLocal(diagonal, Operation::Normal, space, x, y, z));
  PetscCall(PetscSFBcastEnd(context->halo, MPIU_SCALAR, owned.read(), ghosts.write(), MPI_REPLACE));
  PetscCall(owned.Restore());
  PetscCall(ghosts.Restore());
  PetscCall(MultLocal(off, Operation::Normal, space, context->ghosts, z, z));
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
  PetscCall(PrepareGhosts(off, context, space));
  PetscCall(MultLocal(off, operation, space, x, nullptr, context->ghosts));
  PetscCall(MultLocal(diagonal, operation, space, x, y, z));
  PetscCall(ghosts.Get(context->ghosts, space, Access::Read));
  PetscCall(owned.Get(z, space, Access::ReadWrite));
  PetscCall(PetscSFReduceWithMemTypeBegin(context->halo, MPIU_SCALAR, ghosts.where(), ghosts.read(), owned.where(),
                                          owned.write(), MPIU_SUM));
  PetscCall(PetscSFReduceEnd(context->halo, MPIU_SCALAR, ghosts.read(), owned.write(), MPIU_SUM));
  PetscCall(ghosts.Restore());
  PetscCall(owned.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatGetOrdering() takes a parallel matrix whose type is not literally MATMPIAIJ for a sequential one, and would read
/// the local rows, whose columns are the whole matrix's, as a graph. It has an error of its own for matrices without
/// rows.
PetscErrorCode MatGetRowIJ_MPIAIJSparseGPU(Mat A, PetscInt shift, PetscBool symmetric, PetscBool compressed,
                                           PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done)
{
  const struct _MatOps *parent;
  PetscMPIInt           size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  *done = PETSC_FALSE;
  if (symmetric && size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  *done = PETSC_TRUE; // as MatGetRowIJ() has set it
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->getrowij)(A, shift, symmetric, compressed, n, i, j, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_MPIAIJSparseGPU(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Mult(A, x, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_MPIAIJSparseGPU(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MultTransposed(A, Operation::Transpose, x, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_MPIAIJSparseGPU(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultTransposed(A, Operation::Transpose, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultHermitianTranspose_MPIAIJSparseGPU(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MultTransposed(A, Operation::ConjugateTranspose, x, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultHermitianTransposeAdd_MPIAIJSparseGPU(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultTransposed(A, Operation::ConjugateTranspose, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatAssemblyEnd_MPIAIJSparseGPU(Mat A, MatAssemblyType mode)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->assemblyend)(A, mode));
  if (mode != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ConvertBlocks(A));
  PetscCall(NameTypeForDM(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetOps_MPI(Mat A)
{
  PetscFunctionBegin;
  A->ops->assemblyend               = MatAssemblyEnd_MPIAIJSparseGPU;
  A->ops->getrowij                  = MatGetRowIJ_MPIAIJSparseGPU;
  A->ops->mult                      = MatMult_MPIAIJSparseGPU;
  A->ops->multadd                   = Mult;
  A->ops->multtranspose             = MatMultTranspose_MPIAIJSparseGPU;
  A->ops->multtransposeadd          = MatMultTransposeAdd_MPIAIJSparseGPU;
  A->ops->multhermitiantranspose    = MatMultHermitianTranspose_MPIAIJSparseGPU;
  A->ops->multhermitiantransposeadd = MatMultHermitianTransposeAdd_MPIAIJSparseGPU;
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

} // namespace sparsegpu
