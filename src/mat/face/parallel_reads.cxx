/// PETSc's operations that read the values of a parallel matrix: those of its blocks, joined over blocks and ranks.
#include <type_traits>
#include "mat/face/parallel_values.hpp"
#include "mat/face/value_operations.hpp"

namespace sparsegpu::face
{

using namespace parallel;

PetscErrorCode MatGetDiagonal_MPIAIJSparseGPU(Mat A, Vec d)
{
  PetscFunctionBegin;
  PetscCall(OnBlocks(&_MatOps::getdiagonal, A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatNorm_MPIAIJSparseGPU(Mat A, NormType type, PetscReal *norm)
{
  BlocksMayLeave scope;
  Mat            blocks[2];
  PetscReal      mine = 0;

  PetscFunctionBegin;
  if (type != NORM_FROBENIUS && type != NORM_INFINITY) {
    PetscCall(OnHost(&_MatOps::norm, A, type, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  if (type == NORM_INFINITY) {
    PetscCall(LargestRowSum(blocks[0], blocks[1], &mine));
  } else {
    PetscReal of_block;
    for (Mat block : blocks) {
      PetscCall(SumSquares(block, &of_block));
      mine += of_block;
    }
  }
  PetscCall(scope.End());
  PetscCallMPI(MPI_Allreduce(&mine, norm, 1, MPIU_REAL, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM,
                             PetscObjectComm((PetscObject)A)));
  if (type == NORM_FROBENIUS) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// v = `join` of what `get` finds in both blocks.
template <class Get, class Join> PetscErrorCode JoinBlocks(Mat A, Vec v, Get get, Join join)
{
  BlocksMayLeave scope;
  Mat            blocks[2];
  Vec            local, other; // of this rank alone: the ranks may not all do the same with theirs

  PetscFunctionBegin;
  PetscCall(scope.Begin(A));
  PetscCall(GetBlocks(A, blocks));
  PetscCall(VecCreateLocalVector(v, &local));
  PetscCall(VecDuplicate(local, &other));
  PetscCall(VecGetLocalVector(v, local));
  PetscCall(get(blocks[0], local));
  PetscCall(get(blocks[1], other));
  PetscCall(join(local, other));
  PetscCall(VecRestoreLocalVector(v, local));
  PetscCall(VecDestroy(&local));
  PetscCall(VecDestroy(&other));
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatGetRowMaxAbs_MPIAIJSparseGPU(Mat A, Vec v, PetscInt indices[])
{
  PetscFunctionBegin;
  if (indices)
    PetscCall(OnHost(&_MatOps::getrowmaxabs, A, v, indices));
  else
    PetscCall(JoinBlocks(
        A, v, [](Mat block, Vec w) { return (*block->ops->getrowmaxabs)(block, w, nullptr); },
        [](Vec x, Vec y) { return VecPointwiseMax(x, x, y); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// MatGetRowSumAbs(), which not every version of PETSc has.
template <class Operations, class = void> struct RowSums {
  static void Set(Operations *, const Operations &, bool) {}
};
template <class Operations> struct RowSums<Operations, std::void_t<decltype(&Operations::getrowsumabs)>> {
  static PetscErrorCode Get(Mat A, Vec v)
  {
    PetscFunctionBegin;
    PetscCall(JoinBlocks(
        A, v, [](Mat block, Vec w) { return (*(block->ops[0].*(&Operations::getrowsumabs)))(block, w); },
        [](Vec x, Vec y) { return VecAXPY(x, 1, y); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void Set(Operations *operations, const Operations &parent, bool on)
  {
    if (operations->getrowsumabs == (on ? parent.getrowsumabs : Get))
      operations->getrowsumabs = on ? Get : parent.getrowsumabs;
  }
};
} // namespace

void SetParallelRowSums(struct _MatOps *operations, const struct _MatOps &parent, bool on)
{
  RowSums<struct _MatOps>::Set(operations, parent, on);
}

} // namespace sparsegpu::face
