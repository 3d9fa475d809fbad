/// The result of a product of parallel matrices is of our type, and its values stay where they were computed, unless
/// they have to be on the host.
#include "mat/face/parallel_result.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_pattern.hpp"
#include "mat/face/pattern.hpp"

namespace sparsegpu::face
{

PetscErrorCode SetResultType(Mat M, Step step, const StepOperands &operands)
{
  const Mat         left = operands.left, right = operands.right;
  const PetscLayout rows = step == Step::AB     ? left->rmap
                           : step == Step::PtAP ? right->cmap
                                                : left->cmap,
                    cols = step == Step::At ? left->rmap : right->cmap;
  Context  *context;
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(M, rows->n, cols->n, rows->N, cols->N));
  PetscCall(IsOurs(M, &seq, &mpi));
  if (mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetType(M, MATMPIAIJSPARSEGPU));
  PetscCall(GetContext(M, &context));
  context->stays_home = false; // a program's became so for a product, which is not PETSc's
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// The same on the host, the columns of the second block as numbers in the matrix.
PetscErrorCode BringToHost(const BlockPatterns &there, HostPattern patterns[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    PetscCall(CopyToHost(there.i[b], &patterns[b].i));
    PetscCall(CopyToHost(there.j[b], &patterns[b].j));
  }
  for (PetscInt &column : patterns[1].j) column = there.ghosts[static_cast<size_t>(column)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakePatternIn(Mat M, BlockPatterns &&there, Space space)
{
  HostPattern patterns[2];

  PetscFunctionBegin;
  if (PatternsStayAway::Any() && !M->preallocated) {
    PetscCall(TakePattern(M, std::move(there), space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BringToHost(there, patterns));
  PetscCall(TakePattern(M, patterns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode SetResultPattern(Mat M, BlockPatterns &&patterns, Space space)
{
  const struct _MatOps *parent;
  Context              *context;
  Mat                   blocks[2];

  PetscFunctionBegin;
  PetscCall(PetscLayoutSetUp(M->rmap));
  PetscCall(PetscLayoutSetUp(M->cmap));
  PetscCall(BringHome(M));
  PetscCall(GetContext(M, &context));
  context->product_here = true;
  PetscCall(Decide(M, context));
  PetscCall(TakePatternIn(M, std::move(patterns), space));
  PetscCall(GetParentOps(true, &parent));
  for (MatOption option : {MAT_NEW_NONZERO_LOCATION_ERR, MAT_NEW_NONZERO_ALLOCATION_ERR}) // as PETSc's products
    PetscCall((*parent->setoption)(M, option, PETSC_FALSE));
  PetscCall(GetBlocks(M, blocks));
  for (Mat block : blocks) {
    PetscCall(GetContext(block, &context));
    context->read_here = true;
  }
  PetscCall(EachBlock(M, [](Mat block) { return MatZeroEntries(block); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReserveResult(Mat M, Space space)
{
  Mat     blocks[2];
  Scalar *a;

  PetscFunctionBegin;
  PetscCall(GetBlocks(M, blocks));
  for (Mat block : blocks) {
    Context *context;
    PetscCall(GetContext(block, &context));
    PetscCall(context->rows.RoomForValues(block, space, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode TakeBlock(Mat block, int which, const ParallelProduct &product)
{
  const Space space = product.space();
  Context    *context;
  CsrView     csr;
  Scalar     *a;
  Space       where = Space::Host;
  bool        lazy  = false;

  PetscFunctionBegin;
  PetscCall(GetContext(block, &context));
  PetscCall(context->rows.GetShape(block, &csr));
  if (csr.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayGoAway(block, context, &lazy, &where));
  lazy = lazy && where == space;
  if (!lazy) PetscCall(ComeHome(block, context));
  PetscCall(context->rows.RoomForValues(block, space, &a)); // there already: see ReserveResult()
  PetscCall(product.TakeValues(which, a));
  PetscCall(lazy ? ValuesWrittenThere(block, context) : ValuesWrittenInBoth(block, context, a, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakeResult(Mat M, const ParallelProduct &product)
{
  BlocksMayLeave scope;
  Mat            blocks[2];

  PetscFunctionBegin;
  PetscCall(scope.Begin(M));
  PetscCall(GetBlocks(M, blocks));
  for (int b = 0; b < 2; b++) PetscCall(TakeBlock(blocks[b], b, product));
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
