/// Products of a parallel matrix: the ghosts travel while the diagonal block multiplies.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/face/multiply.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_ready.hpp"

namespace sparsegpu::face
{

namespace
{
/// z = A x + y, ghosts by a channel: on the device two launches, one of which sends entries of x along with the
/// diagonal block's product, the other awaits the ghosts and multiplies with them; or one that does both.
PetscErrorCode MultByPeers(Mat A, comm::Channel *channel, Space space, Vec x, Vec y, Vec z)
{
  Mat                  diagonal, off;
  LocalArray           owned;
  comm::DeviceExchange exchange;
  const Scalar        *ghosts;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  if (space == Space::Device) {
    PetscCall(channel->Next(&exchange));
    PetscCall(MultSending(diagonal, channel->receives() ? off : nullptr, &exchange, x, y, z));
    if (channel->receives() && !exchange.complete) PetscCall(AddArriving(off, exchange, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(owned.Get(x, space, Access::Read));
  PetscCall(channel->Begin(owned.read(), nullptr));
  PetscCall(MultLocal(diagonal, Operation::Normal, space, x, y, z));
  PetscCall(channel->End(nullptr, &ghosts));
  PetscCall(owned.Restore());
  PetscCall(AddProduct(off, ghosts, z));
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

} // namespace sparsegpu::face
