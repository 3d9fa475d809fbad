/// Values of the blocks of a parallel matrix that are newest on the device alone. PETSc's parallel code reads and
/// writes the blocks through the pointers of their matrix, some of it without an accessor: before a value leaves, the
/// operations of the parallel matrix are exchanged for those that bring both blocks home first, as a block's own are.
#pragma once

#include <petsc/private/matimpl.h>
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// The blocks of A, of our parallel type; null before A has been preallocated.
PetscErrorCode GetBlocks(Mat A, Mat blocks[2]);

/// From Begin() to End() values of A's blocks may leave the host, in operations on the blocks; at no other time do
/// they. Not collective.
class BlocksMayLeave
{
public:
  BlocksMayLeave() = default;
  ~BlocksMayLeave(); ///< after an error: nothing more leaves
  BlocksMayLeave(const BlocksMayLeave &)            = delete;
  BlocksMayLeave &operator=(const BlocksMayLeave &) = delete;

  /// Does nothing where A's values stay at home, A is not assembled, or somebody else's Begin() holds.
  PetscErrorCode Begin(Mat A);
  PetscErrorCode End();

private:
  PetscErrorCode Let(bool leave);

  Mat matrix_ = nullptr; ///< null: none may leave by this one
};

/// call(block) of both blocks of A, whose values may leave.
template <class Call> PetscErrorCode EachBlock(Mat A, Call call)
{
  BlocksMayLeave scope;
  Mat            blocks[2];

  PetscFunctionBegin;
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) PetscCall(call(block));
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// While one of these lives assembly finds nothing to put in.
class NothingSet
{
public:
  explicit NothingSet(Context *context) : context_(context), before_(context->nothing_set)
  {
    context_->nothing_set = true;
  }
  ~NothingSet() { context_->nothing_set = before_; }
  NothingSet(const NothingSet &)            = delete;
  NothingSet &operator=(const NothingSet &) = delete;

private:
  Context *const context_;
  const bool     before_;
};

/// A has got blocks whose values may be away already: those of a duplicate.
PetscErrorCode TakeBlocks(Mat A);
/// The values of both blocks are home.
PetscErrorCode BlocksComeHome(Mat A, Context *context);
/// -sparsegpu_test_away, of the blocks.
PetscErrorCode SendBlocksAwayForTests(Mat A);

} // namespace sparsegpu::face
