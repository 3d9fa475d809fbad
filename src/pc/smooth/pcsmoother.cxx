/// PCSPARSEGPUSMOOTHER: a Smoother as a preconditioner, and as Richardson's method by itself, which starts from what is
/// in x.
#include "pc/smooth/pcsmoother.hpp"
#include <petsc/private/pcimpl.h>
#include "petsc/aij.hpp"
#include "sparsegpu.h"

#include <memory>

namespace sparsegpu::smooth
{

namespace
{
const char *const KindNames[]      = {"l1jacobi", "gauss_seidel", "Kind", "", nullptr};
const char *const DirectionNames[] = {"forward", "backward", "symmetric", "Direction", "", nullptr};

struct Data {
  Kind                      kind      = Kind::GaussSeidel;
  Direction                 direction = Direction::Symmetric;
  std::shared_ptr<Smoother> smoother; ///< null before the set-up
};

Data *DataOf(PC pc)
{
  return static_cast<Data *>(pc->data);
}

PetscErrorCode CheckMatrix(PC pc)
{
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(CheckAij(pc, PCSPARSEGPUSMOOTHER));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, &columns));
  PetscCheck(rows == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "-pc_type %s takes square matrices, not %" PetscInt_FMT " x %" PetscInt_FMT " local entries",
             PCSPARSEGPUSMOOTHER, rows, columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_SparseGPUSmoother(PC pc)
{
  Data *data = DataOf(pc);

  PetscFunctionBegin;
  PetscCall(CheckMatrix(pc));
  const bool same   = pc->setupcalled && pc->flag != DIFFERENT_NONZERO_PATTERN;
  const bool shared = data->smoother.use_count() > 1;
  if (!data->smoother || (shared && data->smoother->kind() != data->kind))
    PetscCallCXX(data->smoother = std::make_shared<Smoother>());
  PetscCall(data->smoother->SetUp(pc->pmat, data->kind, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_SparseGPUSmoother(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(DataOf(pc)->smoother->Smooth(b, x, DataOf(pc)->direction, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The transpose of a sweep in one direction is one in the other if the matrix is symmetric.
PetscErrorCode PCApplyTranspose_SparseGPUSmoother(PC pc, Vec b, Vec x)
{
  const Data *data      = DataOf(pc);
  Direction   direction = data->direction;
  PetscBool   known, symmetric = PETSC_TRUE;

  PetscFunctionBegin;
  if (data->kind == Kind::GaussSeidel) {
    PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
    PetscCheck(known && symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_type %s has the transpose of gauss_seidel for matrices that are known to be symmetric, see "
               "MatSetOption(), and of l1jacobi for all",
               PCSPARSEGPUSMOOTHER);
  }
  if (data->direction == Direction::Forward) direction = Direction::Backward;
  if (data->direction == Direction::Backward) direction = Direction::Forward;
  PetscCall(data->smoother->Smooth(b, x, direction, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyRichardson_SparseGPUSmoother(PC pc, Vec b, Vec x, Vec, PetscReal, PetscReal, PetscReal,
                                                   PetscInt steps, PetscBool zero, PetscInt *done,
                                                   PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscCall(SmoothWith(pc, b, x, steps, zero));
  *done   = steps;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_SparseGPUSmoother(PC pc, SparseGPUOptionItems PetscOptionsObject)
{
  Data     *data      = DataOf(pc);
  PetscEnum kind      = static_cast<PetscEnum>(static_cast<int>(data->kind));
  PetscEnum direction = static_cast<PetscEnum>(static_cast<int>(data->direction));

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "sparsegpusmoother options");
  PetscCall(PetscOptionsEnum("-pc_sparsegpusmoother_type", "What smooths", "PCSPARSEGPUSMOOTHER", KindNames, kind,
                             &kind, nullptr));
  PetscCall(PetscOptionsEnum("-pc_sparsegpusmoother_sweep", "Direction of Gauss-Seidel sweeps", "PCSPARSEGPUSMOOTHER",
                             DirectionNames, direction, &direction, nullptr));
  PetscOptionsHeadEnd();
  if (static_cast<Kind>(static_cast<int>(kind)) != data->kind)
    pc->setupcalled = static_cast<decltype(pc->setupcalled)>(0);
  data->kind      = static_cast<Kind>(static_cast<int>(kind));
  data->direction = static_cast<Direction>(static_cast<int>(direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SparseGPUSmoother(PC pc, PetscViewer viewer)
{
  const Data *data = DataOf(pc);
  PetscInt    mine = data->smoother ? data->smoother->colors().count() : 0, most;
  PetscBool   ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&mine, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (data->kind == Kind::L1Jacobi)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  l1-Jacobi\n"));
  else if (!data->smoother)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Gauss-Seidel by colours, %s\n", DirectionNames[(int)data->direction]));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Gauss-Seidel by %" PetscInt_FMT " colours, %s\n", most,
                                     DirectionNames[(int)data->direction]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_SparseGPUSmoother(PC pc)
{
  PetscFunctionBegin;
  DataOf(pc)->smoother.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_SparseGPUSmoother(PC pc)
{
  PetscFunctionBegin;
  delete DataOf(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SparseGPUSmoother(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new Data);
  pc->ops->setup           = PCSetUp_SparseGPUSmoother;
  pc->ops->apply           = PCApply_SparseGPUSmoother;
  pc->ops->applytranspose  = PCApplyTranspose_SparseGPUSmoother;
  pc->ops->applyrichardson = PCApplyRichardson_SparseGPUSmoother;
  pc->ops->setfromoptions  = PCSetFromOptions_SparseGPUSmoother;
  pc->ops->view            = PCView_SparseGPUSmoother;
  pc->ops->reset           = PCReset_SparseGPUSmoother;
  pc->ops->destroy         = PCDestroy_SparseGPUSmoother;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ConfigureSmoother(PC pc, Kind kind, Direction direction)
{
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSPARSEGPUSMOOTHER));
  DataOf(pc)->kind      = kind;
  DataOf(pc)->direction = direction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShareSmoother(PC pc, PC other)
{
  PetscFunctionBegin;
  if (!DataOf(other)->smoother) PetscCallCXX(DataOf(other)->smoother = std::make_shared<Smoother>());
  DataOf(pc)->smoother = DataOf(other)->smoother;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetSmoother(PC pc, const Smoother **smoother, Direction *direction)
{
  PetscFunctionBegin;
  *smoother  = DataOf(pc)->smoother.get();
  *direction = DataOf(pc)->direction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SmoothWith(PC pc, Vec b, Vec x, PetscInt steps, bool zero)
{
  const Data *data = DataOf(pc);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < steps; s++) PetscCall(data->smoother->Smooth(b, x, data->direction, zero && s == 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterSmoother()
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCSPARSEGPUSMOOTHER, PCCreate_SparseGPUSmoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::smooth
