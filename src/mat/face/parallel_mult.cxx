/// Products of a parallel matrix: the ghosts travel while the diagonal block multiplies.
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/context.hpp"
#include "mat/face/multiply.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/solver_access.hpp"

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

/// The error of converting a block on any rank, on all of them. Collective.
PetscErrorCode AgreeOnBlocks(Mat A, PetscErrorCode code)
{
  struct {
    int code, rank;
  } mine, worst;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  mine.code = static_cast<int>(code);
  mine.rank = rank;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, PetscObjectComm((PetscObject)A)));
  PetscCheck(!mine.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(mine.code), "Rank %d cannot convert its block",
             (int)rank);
  PetscCheck(!worst.code, PETSC_COMM_SELF, static_cast<PetscErrorCode>(worst.code),
             "Rank %d cannot convert its block: see its message", worst.rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Everything a product in `space` needs, once per change of the matrix: collective, so that an error on one rank (a
/// format that refuses its block, no memory) is an error on all of them, and none waits in the exchange. `copies`: of
/// vectors on the host in products on the device.
PetscErrorCode PrepareIn(Mat A, Context *context, Operation operation, Space space, bool copies)
{
  Version  version;
  Version *agreed  = &context->agreed[static_cast<int>(space)][static_cast<int>(operation)];
  bool    *scratch = &context->agreed_scratch[static_cast<int>(operation)];

  PetscFunctionBegin;
  PetscCall(GetVersion(A, context, &version));
  if (*agreed == version && (!copies || *scratch)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ConvertBlocks(A));
  PetscCall(context->halo.Prepare(A, space, operation != Operation::Normal));
  PetscCall(AgreeOnBlocks(A, BuildBlocks(A, operation, space, copies)));
  *agreed  = version;
  *scratch = *scratch || copies;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Prepare(Mat A, Operation operation, Vec x, Vec z, Context **context, Space *space)
{
  bool copies = false;

  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  if (operation == Operation::ConjugateTranspose) operation = Operation::Transpose;
#endif
  PetscCall(GetContext(A, context));
  PetscCall(Decide(A, *context));
  PetscCall(ProductSpace(*context, x, z, space, &copies));
  PetscCall(PrepareIn(A, *context, operation, *space, copies));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The formats of both blocks for the products of a solve on the device.
PetscErrorCode FormatsOfBlocks(Mat A, BlocksForSolve *blocks)
{
  Format **const   formats[] = {&blocks->diagonal, &blocks->off};
  Mat              of[2];
  Context         *context;
  ConvertedMatrix *converted;

  PetscFunctionBegin;
  blocks->nonzeros = 0;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &of[0], &of[1], nullptr));
  for (int b = 0; b < 2; b++) {
    PetscCall(GetContext(of[b], &context));
    PetscCall(Decide(of[b], context));
    context->read_here = true;
    PetscCall(GetConverted(of[b], context, Operation::Normal, Space::Device, Use::Solve, &converted));
    *formats[b] = converted->format.get();
    blocks->nonzeros += static_cast<PetscLogDouble>(converted->pattern.nonzeros);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A x + y, ghosts by a channel: on the device two launches, one of which sends entries of x along with the
/// diagonal block's product, the other awaits the ghosts and multiplies with them.
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
    PetscCall(MultLocal(diagonal, Operation::Normal, space, x, y, z, &exchange));
    if (channel->receives()) PetscCall(AddArriving(off, exchange, z));
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

PetscErrorCode GetBlocksForSolve(Mat A, Space vectors, BlocksForSolve *blocks)
{
  constexpr int HOST = 1, DEVICE = 2;
  PetscBool     seq, mpi;
  Context      *context;
  Version       version;
  bool          serves;
  int           mine, any;

  PetscFunctionBegin;
  *blocks = BlocksForSolve();
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(DeviceServes(context->settings, vectors, &serves));
  blocks->space = serves ? Space::Device : Space::Host;
  PetscCall(GetVersion(A, context, &version));
  Version *const agreed = &context->agreed[static_cast<int>(blocks->space)][Context::SOLVE];
  const bool     known  = *agreed == version;
  if (!known) {
    mine = serves ? DEVICE : HOST;
    PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_BOR, PetscObjectComm((PetscObject)A)));
    if (any != mine) PetscFunctionReturn(PETSC_SUCCESS); // some ranks have no device
  }
  PetscCall(PrepareIn(A, context, Operation::Normal, blocks->space, false));
  comm::Channel *const channel = context->halo.channel(blocks->space);
  if (channel->made() && serves) {
    const PetscErrorCode code = FormatsOfBlocks(A, blocks);
    PetscCall(known ? code : AgreeOnBlocks(A, code));
  }
  if (channel->made()) blocks->channel = channel;
  *agreed = version;
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
