/// PCSPARSEGPU: each process's diagonal block, factored by MATSOLVERSPARSEGPU.
#include "pc/pcsparsegpu.hpp"
#include <petsc/private/pcimpl.h>
#include "mat/context.hpp"
#include "pc/ilu/factor.hpp"

namespace sparsegpu
{

namespace
{
struct Block {
  Mat         factor = nullptr;
  Vec         b = nullptr, x = nullptr; ///< the local parts of the caller's vectors, without copies
  PetscInt    levels = 0;
  std::string ordering; ///< empty: by the rule
};

Block *BlockOf(PC pc)
{
  return static_cast<Block *>(pc->data);
}

PetscErrorCode PCReset_SparseGPU(PC pc)
{
  Block *block = BlockOf(pc);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&block->factor));
  PetscCall(VecDestroy(&block->b));
  PetscCall(VecDestroy(&block->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_SparseGPU(PC pc)
{
  Block         *block = BlockOf(pc);
  Mat            A;
  Vec            b, x;
  MatFactorInfo  info;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels    = static_cast<PetscReal>(block->levels);
  info.fill      = 1;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  if (!block->factor || pc->flag != SAME_NONZERO_PATTERN) {
    IS    row, column;
    Space space;
    PetscCall(PCReset_SparseGPU(pc));
    PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ILU, &block->factor));
    PetscCall(FactorSpace(A, &space));
    if (block->ordering.empty())
      PetscCallCXX(block->ordering = space == Space::Device ? MATORDERINGABMC : MATORDERINGNATURAL);
    PetscCall(MatGetOrdering(A, block->ordering.c_str(), &row, &column));
    PetscCall(MatILUFactorSymbolic(block->factor, A, row, column, &info));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&column));
    PetscCall(MatCreateVecs(pc->pmat, &x, &b));
    PetscCall(VecCreateLocalVector(b, &block->b));
    PetscCall(VecCreateLocalVector(x, &block->x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(MatLUFactorNumeric(block->factor, A, &info));
  PetscCall(MatFactorGetError(block->factor, &error));
  pc->failedreason = static_cast<PCFailedReason>(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(PC pc, Vec b, Vec x, PetscErrorCode (*solve)(Mat, Vec, Vec))
{
  Block *block = BlockOf(pc);

  PetscFunctionBegin;
  PetscCall(VecGetLocalVectorRead(b, block->b));
  PetscCall(VecGetLocalVector(x, block->x));
  PetscCall((*solve)(block->factor, block->b, block->x));
  PetscCall(VecRestoreLocalVector(x, block->x));
  PetscCall(VecRestoreLocalVectorRead(b, block->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApply_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, MatSolve));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApplyTranspose_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, MatSolveTranspose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_SparseGPU(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  Block    *block = BlockOf(pc);
  char      ordering[128];
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpu options");
  PetscCall(
      PetscOptionsInt("-pc_sparsegpu_levels", "Levels of fill", "PCSPARSEGPU", block->levels, &block->levels, nullptr));
  PetscCall(PetscOptionsFList("-pc_sparsegpu_ordering", "Ordering; by default abmc on a GPU, natural on the host",
                              "PCSPARSEGPU", MatOrderingList, block->ordering.c_str(), ordering, sizeof(ordering),
                              &set));
  PetscOptionsHeadEnd();
  if (set) PetscCallCXX(block->ordering = ordering);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SparseGPU(PC pc, PetscViewer viewer)
{
  Block    *block = BlockOf(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ILU(%" PetscInt_FMT ") of the diagonal blocks, ordering: %s\n",
                                   block->levels,
                                   block->ordering.empty() ? "not chosen yet" : block->ordering.c_str()));
  if (!block->factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscViewer mine; // the first process's block
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &mine));
  if (rank == 0) {
    PetscCall(PetscViewerPushFormat(mine, PETSC_VIEWER_ASCII_INFO));
    PetscCall(PetscViewerASCIIPushTab(mine));
    PetscCall(MatView(block->factor, mine));
    PetscCall(PetscViewerASCIIPopTab(mine));
    PetscCall(PetscViewerPopFormat(mine));
  }
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_SparseGPU(pc));
  delete BlockOf(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new Block);
  pc->ops->setup          = PCSetUp_SparseGPU;
  pc->ops->apply          = PCApply_SparseGPU;
  pc->ops->applytranspose = PCApplyTranspose_SparseGPU;
  pc->ops->setfromoptions = PCSetFromOptions_SparseGPU;
  pc->ops->view           = PCView_SparseGPU;
  pc->ops->reset          = PCReset_SparseGPU;
  pc->ops->destroy        = PCDestroy_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterPreconditioner()
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCSPARSEGPU, PCCreate_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
