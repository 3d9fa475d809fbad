/// All ranks are ready for a product of a parallel matrix, or none is: collective after each change, so that an error
/// on one rank is an error on all of them and none waits in an exchange.
#include "mat/face/parallel_ready.hpp"
#include <algorithm>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
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

/// Whether products of this rank take whatever values the blocks get, by themselves: on the host, as long as auto is to
/// choose the format, since csr, which needs no memory there, multiplies where another format lacks it.
PetscErrorCode TakesAnyValues(Context *context, Operation operation, Space space, bool *takes)
{
  const Settings &settings = context->settings;
  Space           planned;

  PetscFunctionBegin;
  PetscCall(PlannedSpace(context, &planned));
  *takes = operation == Operation::Normal && space == Space::Host && planned == Space::Host &&
           settings.format == "auto" && settings.lazy && !settings.trial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetBlockIds(Mat A, PetscObjectId ids[2])
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(GetBlocks(A, blocks));
  for (int b = 0; b < 2; b++) PetscCall(PetscObjectGetId((PetscObject)blocks[b], &ids[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values alone have changed since an agreement that holds for all of them: there is nothing to agree on.
///
/// No rank waits for another one: the answer is made of what changes on all ranks or on none. Settings reset the
/// agreement. PETSc sums the nonzero state of A over the ranks whenever one has got a new nonzero, and exchanges the
/// block of the ghosts for a new one, on all ranks, before they change: at preallocation and at disassembly.
/// No product is wrong: each block sees by itself that its values, or its pattern on this rank, are others than those
/// of its copy (GetConverted()), and ghosts are compared. No rank fails alone: see TakesAnyValues().
PetscErrorCode ValuesAloneChanged(Mat A, const Context &context, const Agreement &agreement, bool *alone)
{
  PetscObjectId ids[2];
  bool          fits;

  PetscFunctionBegin;
  *alone = agreement.of_values && agreement.nonzero == A->nonzerostate;
  if (!*alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetBlockIds(A, ids));
  *alone = std::equal(ids, ids + 2, agreement.blocks);
  if (!*alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(context.halo.Fits(A, &fits));
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The columns of the off-diagonal block have changed within it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The error of converting a block on any rank, on all of them. *all, if asked for: whether all ranks `take` any
/// values. Collective.
PetscErrorCode AgreeOnBlocks(Mat A, PetscErrorCode code, bool take = false, bool *all = nullptr)
{
  constexpr int OF_THESE_VALUES = 1; // less than any error code
  struct {
    int code, rank;
  } mine, worst;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  mine.code = static_cast<int>(code);
  mine.rank = rank;
  if (!mine.code && !take) mine.code = OF_THESE_VALUES;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, PetscObjectComm((PetscObject)A)));
  PetscCheck(mine.code <= OF_THESE_VALUES, PETSC_COMM_SELF, static_cast<PetscErrorCode>(mine.code),
             "Rank %d cannot convert its block", (int)rank);
  PetscCheck(worst.code <= OF_THESE_VALUES, PETSC_COMM_SELF, static_cast<PetscErrorCode>(worst.code),
             "Rank %d cannot convert its block: see its message", worst.rank);
  if (all) *all = !worst.code;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Everything a product in `space` needs, once per change of the matrix: collective, so that an error on one rank (a
/// format that refuses its block, no memory) is an error on all of them, and none waits in the exchange. `copies`: of
/// vectors on the host in products on the device.
PetscErrorCode PrepareIn(Mat A, Context *context, Operation operation, Space space, bool copies)
{
  Version          version;
  Agreement *const agreed  = &context->agreed[static_cast<int>(space)][static_cast<int>(operation)];
  bool *const      scratch = &context->agreed_scratch[static_cast<int>(operation)];
  bool             alone, takes = false;

  PetscFunctionBegin;
  PetscCall(GetVersion(A, context, &version));
  if (agreed->version == version && (!copies || *scratch)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ValuesAloneChanged(A, *context, *agreed, &alone));
  if (alone) {
    agreed->version = version;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ConvertBlocks(A));
  PetscCall(context->halo.Prepare(A, space, operation != Operation::Normal));
  PetscCall(TakesAnyValues(context, operation, space, &takes));
  PetscCall(AgreeOnBlocks(A, BuildBlocks(A, operation, space, copies), takes, &agreed->of_values));
  agreed->version = version;
  agreed->nonzero = A->nonzerostate;
  PetscCall(GetBlockIds(A, agreed->blocks));
  *scratch = *scratch || copies;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConvertedBlock(Mat block, Use use, ConvertedMatrix **converted)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(block, &context));
  PetscCall(Decide(block, context));
  context->read_here = true;
  PetscCall(GetConverted(block, context, Operation::Normal, Space::Device, use, converted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The formats of both blocks for products on the device.
PetscErrorCode FormatsOfBlocks(Mat A, Use use, BlocksForSolve *blocks)
{
  Mat              diagonal, off;
  ConvertedMatrix *converted;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, nullptr));
  PetscCall(ConvertedBlock(diagonal, use, &converted));
  blocks->diagonal                   = converted->format.get();
  blocks->nonzeros                   = static_cast<PetscLogDouble>(converted->pattern.nonzeros);
  ConvertedMatrix *const of_diagonal = converted;
  if (use == Use::Solve) PetscCall(ConvertedBlock(off, use, &converted)); // for good, before it is looked at
  PetscCall(TakesGhosts(of_diagonal, off, &blocks->complete, nullptr));   // which may convert it
  PetscCall(ConvertedBlock(off, use, &converted));
  blocks->off = converted->format.get();
  blocks->nonzeros += static_cast<PetscLogDouble>(converted->pattern.nonzeros);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

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

PetscErrorCode GetBlocksForProduct(Mat A, Vec x, Vec z, BlocksForSolve *blocks)
{
  Context *context;

  PetscFunctionBegin;
  *blocks = BlocksForSolve();
  PetscCall(Prepare(A, Operation::Normal, x, z, &context, &blocks->space));
  comm::Channel *const channel = context->halo.channel(blocks->space);
  if (!channel->made()) PetscFunctionReturn(PETSC_SUCCESS);
  if (blocks->space == Space::Device) PetscCall(FormatsOfBlocks(A, Use::Product, blocks));
  blocks->channel = channel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetBlocksForSolve(Mat A, Space vectors, BlocksForSolve *blocks, bool there)
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
  Agreement *const agreed = &context->agreed[static_cast<int>(blocks->space)][Context::SOLVE];
  const bool       known  = agreed->version == version;
  if (!known) {
    mine = serves ? DEVICE : HOST;
    PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_BOR, PetscObjectComm((PetscObject)A)));
    if (any != mine) PetscFunctionReturn(PETSC_SUCCESS); // some ranks have no device
  }
  if (there && blocks->space != vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PrepareIn(A, context, Operation::Normal, blocks->space, false));
  comm::Channel *const channel = context->halo.channel(blocks->space);
  if (channel->made() && serves) {
    const PetscErrorCode code = FormatsOfBlocks(A, Use::Solve, blocks);
    PetscCall(known ? code : AgreeOnBlocks(A, code));
  }
  if (channel->made()) blocks->channel = channel;
  agreed->version = version;
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
