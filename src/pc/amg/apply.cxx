/// The fused cycle where it can be, else that of PCMG.
#include "pc/amg/multigrid.hpp"
#include "mat/formats/codec/values.hpp"
#include "sparsegpu.h"

namespace sparsegpu::amg
{

PetscErrorCode DataOf(PC pc, Multigrid **data)
{
  PetscContainer container;
  void          *pointer;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, DATA, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "A PC of type %s without its data",
             PCSPARSEGPUAMG);
  PetscCall(PetscContainerGetPointer(container, &pointer));
  *data = static_cast<Multigrid *>(pointer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// PCMG borrows the right-hand side without a reference; after an error it keeps that and later destroys it. The
/// reference is then this one's.
template <class Call> PetscErrorCode Lend(PetscObject rhs, const Call &call)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference(rhs));
  PetscCall(call());
  PetscCall(PetscObjectDereference(rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PCApply_SparseGPUAMG(PC pc, Vec b, Vec x)
{
  Multigrid  *m = nullptr;
  const char *reason;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  const formats::ProductsInSingle single(m->settings.InSingle());
  PetscCall(m->cycle.WhyNot(pc, &reason));
  if (m->settings.fused_cycle && !reason) {
    PetscCall(m->cycle.Apply(pc, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Lend((PetscObject)b, [&] { return m->mg.apply(pc, b, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_SparseGPUAMG(PC pc, Vec b, Vec x)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  const formats::ProductsInSingle single(m->settings.InSingle());
  PetscCall(Lend((PetscObject)b, [&] { return m->mg.applytranspose(pc, b, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_SparseGPUAMG(PC pc, Mat B, Mat X)
{
  Multigrid *m = nullptr;

  PetscFunctionBegin;
  PetscCall(DataOf(pc, &m));
  const formats::ProductsInSingle single(m->settings.InSingle());
  PetscCall(Lend((PetscObject)B, [&] { return m->mg.matapply(pc, B, X); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
