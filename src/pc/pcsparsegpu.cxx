/// PCSPARSEGPU: each process's diagonal block, factored by MATSOLVERSPARSEGPU; or small blocks of it, in one batch.
#include "pc/pcsparsegpu.hpp"
#include <memory>
#include <string>
#include <petsc/private/pcimpl.h>
#include "mat/face/context.hpp"
#include "pc/blocks/blocks.hpp"
#include "pc/factor/rows.hpp"
#include "pc/ilu/factor.hpp"
#include "pc/lu/matsolver.hpp"
#include "sparsegpu.h"

namespace sparsegpu
{

namespace
{
struct Block {
  Mat           factor = nullptr;
  Vec           b = nullptr, x = nullptr; ///< the local parts of the caller's vectors, without copies
  IS            row = nullptr, column = nullptr;
  Incomplete    kind     = Incomplete::LU;
  bool          complete = false; ///< with all fill: LU or Cholesky by kind
  MatFactorInfo info;
  bool          shift_is_set = false, engine_is_set = false, check = false, keep_order = false;
  Engine        engine = Engine::Auto;
  std::string   wanted;   ///< ordering; empty: by the rule
  std::string   ordering; ///< in use
  BlockOptions  block_options;

  std::shared_ptr<BlockJacobi> blocks; ///< instead of all of the above, if block_options.wanted
};

const char *const FactorNames[] = {"ilu", "icc", "none", "blocks", "lu", "cholesky", "PCSparseGPUFactor", "", nullptr};
constexpr int     BLOCKS = 3, COMPLETE = 4; // the names before them are those of Incomplete
int               FactorNumber(const Block &block)
{
  return block.block_options.wanted ? BLOCKS : static_cast<int>(block.kind) + (block.complete ? COMPLETE : 0);
}

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
  block->blocks.reset();
  if (!block->keep_order) {
    PetscCall(ISDestroy(&block->row));
    PetscCall(ISDestroy(&block->column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first factor, in the order `name`, and whether its levels are too narrow for a GPU. A level costs a GPU about as
/// long as the 2,000 entries that its memory moves in that time: with ten times as many entries a level, another order
/// does not pay for the iterations it costs and the time to find it (docs/performance.md).
PetscErrorCode SymbolicIn(PC pc, Mat A, const char name[], bool *narrow)
{
  Block             *block      = BlockOf(pc);
  const bool         icc        = block->kind == Incomplete::Cholesky;
  constexpr PetscInt ENTRIES    = 20000; // of a level
  PetscInt           order_rows = -1;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&block->factor));
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &block->factor));
  Factor *factor = FactorOf(block->factor);
  if (block->kind == Incomplete::None) factor->kind = Incomplete::None;
  factor->check         = block->check;
  factor->engine_is_set = block->engine_is_set;
  if (block->engine_is_set) factor->options.engine = block->engine;
  if (block->row) PetscCall(ISGetLocalSize(block->row, &order_rows));
  if (order_rows != A->rmap->n) {
    PetscCallCXX(block->ordering = name);
    PetscCall(ISDestroy(&block->row));
    PetscCall(ISDestroy(&block->column));
    PetscCall(MatGetOrdering(A, name, &block->row, &block->column));
  }
  if (icc)
    PetscCall(MatICCFactorSymbolic(block->factor, A, block->row, &block->info));
  else
    PetscCall(MatILUFactorSymbolic(block->factor, A, block->row, block->column, &block->info));
  *narrow = factor->Nonzeros() / PetscMax(factor->Levels(), 1) < ENTRIES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A factor with all fill.
PetscErrorCode SymbolicComplete(PC pc, Mat A)
{
  Block     *block      = BlockOf(pc);
  const bool cholesky   = block->kind == Incomplete::Cholesky;
  PetscInt   order_rows = -1;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, cholesky ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, &block->factor));
  if (block->row) PetscCall(ISGetLocalSize(block->row, &order_rows));
  if (order_rows != A->rmap->n) {
    PetscCallCXX(block->ordering = block->wanted.empty() ? MATORDERINGLEASTFILL : block->wanted);
    PetscCall(ISDestroy(&block->row));
    PetscCall(ISDestroy(&block->column));
    PetscCall(MatGetOrdering(A, block->ordering.c_str(), &block->row, &block->column));
  }
  if (cholesky)
    PetscCall(MatCholeskyFactorSymbolic(block->factor, A, block->row, &block->info));
  else
    PetscCall(MatLUFactorSymbolic(block->factor, A, block->row, block->column, &block->info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without a wish for an ordering: the matrix's own, unless the solves are exact, run on a GPU and find its levels too
/// narrow; then abmc.
PetscErrorCode Symbolic(PC pc, Mat A)
{
  Block *block = BlockOf(pc);
  Vec    b, x;
  Space  space;
  bool   narrow;

  PetscFunctionBegin;
  PetscCall(PCReset_SparseGPU(pc));
  const bool kept = block->row != nullptr;
  PetscCall(FactorSpace(A, &space));
  if (block->complete)
    PetscCall(SymbolicComplete(pc, A));
  else
    PetscCall(SymbolicIn(pc, A, block->wanted.empty() ? MATORDERINGNATURAL : block->wanted.c_str(), &narrow));
  if (!block->complete && !kept && block->wanted.empty() && space == Space::Device && narrow &&
      block->ordering == MATORDERINGNATURAL && block->kind != Incomplete::None &&
      FactorOf(block->factor)->options.engine != Engine::Jacobi) {
    PetscCall(ISDestroy(&block->row));
    PetscCall(ISDestroy(&block->column));
    PetscCall(SymbolicIn(pc, A, MATORDERINGABMC, &narrow));
  }
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(VecCreateLocalVector(b, &block->b));
  PetscCall(VecCreateLocalVector(x, &block->x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_SparseGPU(PC pc)
{
  Block         *block = BlockOf(pc);
  Mat            A;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  if (block->block_options.wanted) {
    if (!block->blocks || pc->flag != SAME_NONZERO_PATTERN)
      PetscCallCXX(block->blocks = std::make_shared<BlockJacobi>(block->block_options));
    PetscCall(MatDestroy(&block->factor)); // of another kind, before
    PetscCall(block->blocks->SetUp(pc, A, block->info.zeropivot));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!block->shift_is_set) // as PCILU and PCICC have it
    block->info.shifttype = static_cast<PetscReal>(
        block->kind == Incomplete::Cholesky && !block->complete ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE);
  if (!block->factor || pc->flag != SAME_NONZERO_PATTERN) PetscCall(Symbolic(pc, A));
  if (block->kind == Incomplete::Cholesky)
    PetscCall(MatCholeskyFactorNumeric(block->factor, A, &block->info));
  else
    PetscCall(MatLUFactorNumeric(block->factor, A, &block->info));
  PetscCall(MatFactorGetError(block->factor, &error));
  pc->failedreason = static_cast<PCFailedReason>(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(PC pc, Vec b, Vec x, bool transpose)
{
  Block *block = BlockOf(pc);

  PetscFunctionBegin;
  if (block->blocks) {
    PetscCall(block->blocks->Apply(b, x, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalVectorRead(b, block->b));
  PetscCall(VecGetLocalVector(x, block->x));
  PetscCall(transpose ? MatSolveTranspose(block->factor, block->b, block->x)
                      : MatSolve(block->factor, block->b, block->x));
  PetscCall(VecRestoreLocalVector(x, block->x));
  PetscCall(VecRestoreLocalVectorRead(b, block->b));
  if (block->complete) { // KSPPREONLY looks at the reason after it has applied the preconditioner
    bool           solved;
    MatFactorError error;
    PetscCall(DirectSolved(block->factor, &solved));
    PetscCall(MatFactorGetError(block->factor, &error));
    pc->failedreason = error ? static_cast<PCFailedReason>(error) : solved ? PC_NOERROR : PC_FACTOR_OTHER;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApply_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApplyTranspose_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One half of an incomplete Cholesky factorization; there are no others.
PetscErrorCode SolveHalf(PC pc, Vec b, Vec x, bool upper)
{
  Block *block = BlockOf(pc);

  PetscFunctionBegin;
  PetscCheck(!block->block_options.wanted && !block->complete && block->kind == Incomplete::Cholesky,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Symmetric application needs -pc_sparsegpu_factor icc, not %s", FactorNames[FactorNumber(*block)]);
  PetscCall(VecGetLocalVectorRead(b, block->b));
  PetscCall(VecGetLocalVector(x, block->x));
  PetscCall(upper ? MatBackwardSolve(block->factor, block->b, block->x)
                  : MatForwardSolve(block->factor, block->b, block->x));
  PetscCall(VecRestoreLocalVector(x, block->x));
  PetscCall(VecRestoreLocalVectorRead(b, block->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApplySymmetricLeft_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveHalf(pc, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCApplySymmetricRight_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveHalf(pc, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The norms of the solve were on the host, so that its applications are done: whether one of them gave up is known
/// without a wait.
PetscErrorCode PCPostSolve_SparseGPU(PC pc, KSP, Vec, Vec)
{
  const Block *block = BlockOf(pc);

  PetscFunctionBegin;
  if (block->factor && !block->complete && !block->blocks) PetscCall(FactorOf(block->factor)->CheckStuck());
  if (pc->failedreason == PC_FACTOR_OTHER) pc->failedreason = PC_NOERROR; // of one right-hand side, not of the factor
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_SparseGPU(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  const Block    before = *BlockOf(pc);
  Block          next   = before; // takes its place once every value is known to be allowed
  Block         *block  = &next;
  MatFactorInfo *info   = &block->info;
  char           ordering[128];
  PetscInt       levels = static_cast<PetscInt>(info->levels), engine = static_cast<PetscInt>(block->engine);
  PetscEnum      kind  = static_cast<PetscEnum>(FactorNumber(*block));
  PetscEnum      shift = static_cast<PetscEnum>(static_cast<int>(info->shifttype));
  PetscBool      set, flag;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpu options");
  PetscCall(PetscOptionsEnum("-pc_sparsegpu_factor",
                             "Incomplete or direct factorization, the matrix's own triangles, or LU of small blocks",
                             "PCSPARSEGPU", FactorNames, kind, &kind, nullptr));
  block->block_options.wanted = static_cast<int>(kind) == BLOCKS;
  PetscCall(block->block_options.Read(PetscOptionsObject));
  PetscCall(PetscOptionsEList("-pc_sparsegpu_solve", "Triangular solves", "PCSPARSEGPU", EngineNames, 4,
                              EngineNames[engine], &engine, &set));
  if (set) block->engine_is_set = true;
  PetscCall(PetscOptionsFList("-pc_factor_mat_ordering_type", "Ordering", "PCFactorSetMatOrderingType", MatOrderingList,
                              block->wanted.c_str(), ordering, sizeof(ordering), &set));
  if (set) PetscCallCXX(block->wanted = ordering);
  PetscCall(PetscOptionsFList("-pc_sparsegpu_ordering",
                              "Ordering; by default natural, or abmc for narrow levels on a GPU", "PCSPARSEGPU",
                              MatOrderingList, block->wanted.c_str(), ordering, sizeof(ordering), &set));
  if (set) PetscCallCXX(block->wanted = ordering);
  PetscCall(PetscOptionsInt("-pc_factor_levels", "Levels of fill", "PCFactorSetLevels", levels, &levels, nullptr));
  PetscCall(PetscOptionsInt("-pc_sparsegpu_levels", "Levels of fill", "PCSPARSEGPU", levels, &levels, nullptr));
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Levels of fill must be non-negative, not %" PetscInt_FMT, levels);
  PetscCall(PetscOptionsEnum("-pc_factor_shift_type", "What becomes of zero pivots", "PCFactorSetShiftType",
                             MatFactorShiftTypes, shift, &shift, &set));
  if (set) {
    block->shift_is_set = true;
    info->shifttype     = static_cast<PetscReal>(static_cast<int>(shift));
  }
  PetscCall(PetscOptionsReal("-pc_factor_shift_amount", "Added to the diagonal", "PCFactorSetShiftAmount",
                             info->shiftamount, &info->shiftamount, nullptr));
  PetscCall(PetscOptionsReal("-pc_factor_zeropivot", "Pivots up to this are zero", "PCFactorSetZeroPivot",
                             info->zeropivot, &info->zeropivot, nullptr));
  flag = info->diagonal_fill != 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_factor_diagonal_fill", "Put in missing diagonal entries",
                             "PCFactorSetAllowDiagonalFill", flag, &flag, nullptr));
  info->diagonal_fill = flag;
  flag                = block->keep_order ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_factor_reuse_ordering", "Keep the ordering when the pattern changes",
                             "PCFactorSetReuseOrdering", flag, &flag, nullptr));
  block->keep_order = flag == PETSC_TRUE;
  // as PCILU takes them: nothing is allocated by a guess here
  PetscCall(PetscOptionsReal("-pc_factor_fill", "Expected fill; not needed", "PCFactorSetFill", info->fill, &info->fill,
                             nullptr));
  PetscCall(PetscOptionsBool("-pc_factor_reuse_fill", "Expect the fill of the last factorization; not needed",
                             "PCFactorSetReuseFill", PETSC_FALSE, &flag, nullptr));
  flag = block->check ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_sparsegpu_check", "Wait for the end of each solve and tell how it went",
                             "PCSPARSEGPU", flag, &flag, nullptr));
  block->check = flag == PETSC_TRUE;
  PetscOptionsHeadEnd();
  block->complete = static_cast<int>(kind) >= COMPLETE;
  if (!block->block_options.wanted)
    block->kind = static_cast<Incomplete>(static_cast<int>(kind) - (block->complete ? COMPLETE : 0));
  block->engine = static_cast<Engine>(engine);
  info->levels  = static_cast<PetscReal>(levels);
  *BlockOf(pc)  = next;
  block         = BlockOf(pc);
  if (block->wanted != before.wanted) { // also where an ordering is kept
    PetscCall(ISDestroy(&block->row));
    PetscCall(ISDestroy(&block->column));
  }
  if (block->kind != before.kind || block->complete != before.complete || block->engine != before.engine ||
      block->wanted != before.wanted || block->check != before.check || info->levels != before.info.levels ||
      info->diagonal_fill != before.info.diagonal_fill || !(block->block_options == before.block_options)) {
    block->blocks.reset();
    pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0); // the factor is another's
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SparseGPU(PC pc, PetscViewer viewer)
{
  Block    *block = BlockOf(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (block->block_options.wanted) {
    PetscCall(block->block_options.View(viewer));
    if (block->blocks) PetscCall(block->blocks->View(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string fill, solves; // a line in one call, which indents
  if (!block->complete) {
    PetscCallCXX(fill = "(" + std::to_string(static_cast<PetscInt>(block->info.levels)) + ")");
    PetscCallCXX(solves = std::string(", solves: ") + EngineNames[static_cast<int>(block->engine)]);
  }
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  factors of the diagonal blocks: %s%s, ordering: %s%s\n", FactorNames[FactorNumber(*block)],
      fill.c_str(), block->ordering.empty() ? "not chosen yet" : block->ordering.c_str(), solves.c_str()));
  if (!block->factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscViewer       mine; // the first process's block
  PetscViewerFormat format;
  PetscMPIInt       rank;
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &mine));
  if (rank == 0) {
    PetscCall(PetscViewerPushFormat(mine, format == PETSC_VIEWER_ASCII_INFO_DETAIL ? format : PETSC_VIEWER_ASCII_INFO));
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
  BlockOf(pc)->keep_order = false;
  PetscCall(PCReset_SparseGPU(pc));
  delete BlockOf(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new Block);
  PetscCall(MatFactorInfoInitialize(&BlockOf(pc)->info));
  BlockOf(pc)->info.fill        = 1;
  BlockOf(pc)->info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  BlockOf(pc)->info.shiftamount = 100 * PETSC_MACHINE_EPSILON;
  pc->ops->setup                = PCSetUp_SparseGPU;
  pc->ops->apply                = PCApply_SparseGPU;
  pc->ops->applytranspose       = PCApplyTranspose_SparseGPU;
  pc->ops->applysymmetricleft   = PCApplySymmetricLeft_SparseGPU;
  pc->ops->applysymmetricright  = PCApplySymmetricRight_SparseGPU;
  pc->ops->postsolve            = PCPostSolve_SparseGPU;
  pc->ops->setfromoptions       = PCSetFromOptions_SparseGPU;
  pc->ops->view                 = PCView_SparseGPU;
  pc->ops->reset                = PCReset_SparseGPU;
  pc->ops->destroy              = PCDestroy_SparseGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode DeviceFactorOf(PC pc, Factor **factor)
{
  PetscBool      ours, ilu, icc, in_place = PETSC_FALSE, same = PETSC_FALSE;
  MatFactorType  kind;
  MatFactorError failed;
  MatSolverType  solver;
  Mat            F = nullptr;

  PetscFunctionBegin;
  *factor = nullptr;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSPARSEGPU, &ours));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCILU, &ilu));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCICC, &icc));
  if (ours && !BlockOf(pc)->blocks) F = BlockOf(pc)->factor;
  if (ilu) PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  if ((ilu && !in_place) || icc) PetscCall(PCFactorGetMatrix(pc, &F));
  if (!F) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetFactorType(F, &kind));
  PetscCall(MatFactorGetError(F, &failed));
  if (failed || (kind != MAT_FACTOR_ILU && kind != MAT_FACTOR_ICC)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatFactorGetSolverType(F, &solver));
  PetscCall(PetscStrcmp(solver, MATSOLVERSPARSEGPU, &same));
  if (same && FactorOf(F)->Where() == Space::Device) *factor = FactorOf(F);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterPreconditioner()
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCSPARSEGPU, PCCreate_SparseGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
