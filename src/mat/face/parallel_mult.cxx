/// Products of a parallel matrix: the ghosts travel while the diagonal block multiplies.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/face/multiply.hpp"
#include "mat/face/parallel_away.hpp"

namespace sparsegpu::face
{

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
  PetscCall(context->halo.Prepare(A, space, operation != Operation::Normal));
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

/// The entries of `owned` where exchanges of products in `space` take them from: at most copied to the scratch memory
/// of the diagonal block, whose product makes the same copy.
PetscErrorCode StageOwned(Mat A, Space space, LocalArray *owned, Stream *stream)
{
  Mat      diagonal;
  Context *block;

  PetscFunctionBegin;
  *stream = nullptr;
  if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(stream));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, nullptr, nullptr));
  PetscCall(GetContext(diagonal, &block));
  PetscCall(owned->Stage(&block->x, *stream, (PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A x + y, ghosts by a channel.
PetscErrorCode MultByPeers(Mat A, comm::Channel *channel, Space space, Vec x, Vec y, Vec z)
{
  Mat           diagonal, off;
  LocalArray    owned;
  Stream        stream;
  const Scalar *ghosts;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(owned.Get(x, space, Access::Read));
  PetscCall(StageOwned(A, space, &owned, &stream));
  PetscCall(channel->Begin(owned.read(), stream));
  PetscCall(MultLocal(diagonal, Operation::Normal, space, x, y, z));
  PetscCall(channel->End(stream, &ghosts));
  PetscCall(owned.Restore());
  PetscCall(AddProduct(off, space, ghosts, z));
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
  comm::Channel *const channel = context->halo.channel(space);
  if (channel->made()) {
    PetscCall(MultByPeers(A, channel, space, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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

/// z += what the other ranks' ghosts, and this rank's, hold of their owners' entries, by a channel, while the diagonal
/// block multiplies.
PetscErrorCode MultTransposedByPeers(Mat A, Operation operation, Context *context, Space space, Vec x, Vec y, Vec z)
{
  comm::Channel *const channel = context->halo.channel(space, true);
  Mat                  diagonal, off;
  Context             *block;
  LocalArray           ghosts, owned;
  Stream               stream = nullptr;
  const Scalar        *received;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(MultLocal(off, operation, space, x, nullptr, context->halo.ghosts(space)));
  PetscCall(ghosts.Get(context->halo.ghosts(space), space, Access::Read));
  if (space == Space::Device) {
    PetscCall(DeviceStream(&stream));
    PetscCall(GetContext(off, &block));
    PetscCall(ghosts.Stage(&block->z, stream, (PetscObject)A));
  }
  PetscCall(channel->Begin(ghosts.read(), stream));
  PetscCall(ghosts.Restore());
  PetscCall(MultLocal(diagonal, operation, space, x, y, z));
  PetscCall(channel->End(stream, &received));
  PetscCall(owned.Get(z, space, Access::ReadWrite));
  if (space == Space::Device) {
    PetscCall(GetContext(diagonal, &block));
    PetscCall(owned.Stage(&block->z, stream, (PetscObject)A));
  }
  PetscCall(context->halo.channel(space)->AddReceived(received, owned.write(), stream));
  PetscCall(owned.Restore());
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
  if (context->halo.channel(space, true)->made()) {
    PetscCall(MultTransposedByPeers(A, operation, context, space, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
} // namespace

PetscErrorCode MultiplyParallel(Mat A, Operation operation, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(operation == Operation::Normal ? MultPlain(A, x, y, z) : MultTransposed(A, operation, x, y, z));
  PetscCall(SendBlocksAwayForTests(A));
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

} // namespace sparsegpu::face
