/// PCSPARSEGPU: each process's diagonal block, factored by MATSOLVERSPARSEGPU; or small blocks of it, in one batch. The
/// operations of PETSc's PC go to the strategy of the kind that -pc_sparsegpu_factor names.
#include "pc/names.hpp"
#include "pc/pcsparsegpu.hpp"
#include <petsc/private/pcimpl.h>
#include "pc/ilu/factor.hpp"
#include "pc/strategy/strategy.hpp"
#include "sparsegpu.h"

namespace sparsegpu::pc
{

namespace
{
struct Preconditioner {
  PcOptions                 options;
  EliminationOrder          order;
  std::unique_ptr<Strategy> strategy;
};

Preconditioner *DataOf(PC pc)
{
  return static_cast<Preconditioner *>(pc->data);
}

PetscErrorCode PCReset_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->Reset());
  if (!DataOf(pc)->options.keep_order) PetscCall(DataOf(pc)->order.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->SetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->Apply(pc, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_SparseGPU(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->ApplyMany(pc, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->Apply(pc, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplySymmetricLeft_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->ApplyHalf(pc, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplySymmetricRight_SparseGPU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->ApplyHalf(pc, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_SparseGPU(PC pc, KSP, Vec, Vec)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->strategy->PostSolve());
  if (pc->failedreason == PC_FACTOR_OTHER) pc->failedreason = PC_NOERROR; // of one right-hand side, not of the factor
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_SparseGPU(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  Preconditioner *p      = DataOf(pc);
  const PcOptions before = p->options;
  PcOptions       next   = before; // takes its place once every value is known to be allowed

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpu options");
  PetscCall(next.Read(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  p->options = next;
  if (next.ordering != before.ordering) PetscCall(p->order.Free()); // also where an ordering is kept
  if (!next.NeedSetUpAfter(before)) PetscFunctionReturn(PETSC_SUCCESS);
  pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0); // the factor is another's
  PetscCall(p->strategy->OptionsChanged());
  if (SameStrategy(next.factor, before.factor)) PetscFunctionReturn(PETSC_SUCCESS);
  std::unique_ptr<Strategy> strategy;
  PetscCall(MakeStrategy(&p->options, &p->order, &strategy));
  std::swap(strategy, p->strategy);
  PetscCall(strategy->Reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SparseGPU(PC pc, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(DataOf(pc)->strategy->View(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  DataOf(pc)->options.keep_order = false;
  PetscCall(PCReset_SparseGPU(pc));
  delete DataOf(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SparseGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new Preconditioner);
  PetscCall(MakeStrategy(&DataOf(pc)->options, &DataOf(pc)->order, &DataOf(pc)->strategy));
  pc->ops->setup               = PCSetUp_SparseGPU;
  pc->ops->apply               = PCApply_SparseGPU;
  pc->ops->matapply            = PCMatApply_SparseGPU;
  pc->ops->applytranspose      = PCApplyTranspose_SparseGPU;
  pc->ops->applysymmetricleft  = PCApplySymmetricLeft_SparseGPU;
  pc->ops->applysymmetricright = PCApplySymmetricRight_SparseGPU;
  pc->ops->postsolve           = PCPostSolve_SparseGPU;
  pc->ops->setfromoptions      = PCSetFromOptions_SparseGPU;
  pc->ops->view                = PCView_SparseGPU;
  pc->ops->reset               = PCReset_SparseGPU;
  pc->ops->destroy             = PCDestroy_SparseGPU;
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
  if (ours) F = DataOf(pc)->strategy->FactorMatrix();
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

} // namespace sparsegpu::pc
