/// Leaving and coming home of the blocks of a parallel matrix.
#include "mat/face/parallel_away.hpp"

namespace sparsegpu::face
{

PetscErrorCode GetBlocks(Mat A, Mat blocks[2])
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The blocks as ours, which know that they are blocks.
PetscErrorCode KnowBlocks(Mat A, Mat blocks[2])
{
  PetscBool seq, mpi;
  bool      known = true;

  PetscFunctionBegin;
  PetscCall(GetBlocks(A, blocks));
  for (int b = 0; b < 2; b++) {
    PetscCall(IsOurs(blocks[b], &seq, &mpi));
    known = known && seq;
    if (!known) break;
    Context *context;
    PetscCall(GetContext(blocks[b], &context));
    known = context->block;
  }
  if (!known) PetscCall(ConvertBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AnyAway(Mat A, bool *any)
{
  Mat blocks[2];

  PetscFunctionBegin;
  *any = false;
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) {
    PetscBool seq, mpi;
    bool      away = false;
    PetscCall(IsOurs(block, &seq, &mpi));
    if (seq) PetscCall(IsAway(block, &away));
    *any = *any || away;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExchangeOperations(Mat A, Context *context)
{
  PetscFunctionBegin;
  if (context->at_home) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(context->at_home = std::make_unique<struct _MatOps>(*A->ops));
  OperateBlocksAtHome(A->ops);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BlocksMayLeave::Let(bool leave)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(GetBlocks(matrix_, blocks));
  for (Mat block : blocks) {
    Context *context;
    PetscCall(GetContext(block, &context));
    context->may_leave = leave;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

BlocksMayLeave::~BlocksMayLeave()
{
  if (matrix_) PetscCallAbort(PETSC_COMM_SELF, Let(false));
}

PetscErrorCode BlocksMayLeave::Begin(Mat A)
{
  Context *context, *block;
  Mat      blocks[2];
  bool     lives;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(LivesThere(context, &lives));
  if (!lives || context->stays_home || (A->product && !context->product_here) || !A->assembled || AtHomeScope::Any() ||
      HasMAIJ())
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KnowBlocks(A, blocks));
  PetscCall(GetContext(blocks[0], &block));
  if (block->may_leave) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ExchangeOperations(A, context)); // at once: an operation of the blocks may fail after a value has left
  matrix_ = A;
  PetscCall(Let(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlocksMayLeave::End()
{
  Context *context;
  bool     any;

  PetscFunctionBegin;
  if (!matrix_) PetscFunctionReturn(PETSC_SUCCESS);
  const Mat A = matrix_;
  PetscCall(Let(false));
  matrix_ = nullptr;
  PetscCall(AnyAway(A, &any));
  PetscCall(GetContext(A, &context));
  if (!any) PetscCall(BlocksComeHome(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeBlocks(Mat A)
{
  Context *context;
  Mat      blocks[2];
  bool     any;

  PetscFunctionBegin;
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) {
    PetscBool seq = PETSC_FALSE, mpi;
    if (block) PetscCall(IsOurs(block, &seq, &mpi));
    if (!seq) PetscFunctionReturn(PETSC_SUCCESS); // ConvertBlocks() will see to them
    PetscCall(GetContext(block, &context));
    context->block = true;
  }
  PetscCall(AnyAway(A, &any));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(ExchangeOperations(A, context));
  PetscCall(ConvertBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlocksComeHome(Mat A, Context *context)
{
  Mat blocks[2];

  PetscFunctionBegin;
  if (!context->at_home) PetscFunctionReturn(PETSC_SUCCESS);
  const std::unique_ptr<struct _MatOps> before = std::move(context->at_home);
  BlocksOperateAsBefore(A->ops, *before);
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) PetscCall(BringHome(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SendBlocksAwayForTests(Mat A)
{
  const auto send = [](Mat block) -> PetscErrorCode {
    Context  *context;
    PetscBool seq, mpi;

    PetscFunctionBegin;
    PetscCall(IsOurs(block, &seq, &mpi));
    if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetContext(block, &context));
    PetscCall(SendAwayForTests(block, context));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  if (context->test_away == Context::TestAway::Yes) PetscCall(EachBlock(A, send));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
