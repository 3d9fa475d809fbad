/// A creator in front of PETSc's for each of the two types. It keeps PETSc's operations and puts one in front of the
/// set-up, which decides by the matrix who does the work: PETSc's own code, or BlockJacobi.
#include "pc/blocks/point_block.hpp"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include "mat/face/context.hpp"
#include "pc/blocks/blocks.hpp"

namespace sparsegpu::blocks
{

namespace
{
struct Kind {
  PCType type;
  bool   variable;                        ///< sizes of MatSetVariableBlockSizes(), not one block size
  PetscErrorCode (*create)(PC) = nullptr; ///< PETSc's
  struct _PCOps ops            = {};      ///< as PETSc's creator sets them
};
Kind point{PCPBJACOBI, false}, variable{PCVPBJACOBI, true};

constexpr char NAME[] = "SparseGPUPointBlocks";

/// With a PC whose blocks are on the device.
struct Work {
  std::unique_ptr<BlockJacobi> blocks; ///< of one pattern
};
PetscErrorCode GetWork(PC pc, Work **work)
{
  PetscContainer container = nullptr;

  PetscFunctionBegin;
  *work = nullptr;
  PetscCall(PetscObjectQuery((PetscObject)pc, NAME, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of its blocks where these are to be factored on the device, the largest if they differ; else 0: PETSc's.
PetscErrorCode RowsOnDevice(PC pc, const Kind &kind, Mat *A, PetscInt *rows)
{
  PetscBool       seq, mpi;
  Space           space;
  PetscInt        count = 0, most;
  const PetscInt *sizes = nullptr;

  PetscFunctionBegin;
  *rows = 0;
  PetscCall(face::IsOurs(pc->pmat, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonalBlock(pc->pmat, A));
  PetscCall(FactorSpace(*A, &space));
  if (space == Space::Host || (*A)->rmap->n != (*A)->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt largest = 0;
  if (kind.variable) {
    PetscCall(MatGetVariableBlockSizes(pc->pmat, &count, &sizes));
    for (PetscInt b = 0; b < count; b++) largest = PetscMax(largest, sizes[b]);
  } else {
    PetscCall(MatGetBlockSize(pc->pmat, &largest));
  }
  PetscCall(tile::TileLargest(space, &most));
  if (largest <= most) *rows = largest;
  if (largest > most)
    PetscCall(PetscInfo(pc,
                        "Blocks of %" PetscInt_FMT " rows, more than the %" PetscInt_FMT
                        " that fit the device's shared memory, stay on the host\n",
                        largest, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool transpose> PetscErrorCode Apply(PC pc, Vec b, Vec x)
{
  Work *work;

  PetscFunctionBegin;
  PetscCall(GetWork(pc, &work));
  PetscCall(work->blocks->Apply(b, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Kind *kind> PetscErrorCode SetUp(PC pc)
{
  Mat          A;
  PetscInt     rows;
  Work        *work;
  BlockOptions options;

  PetscFunctionBegin;
  PetscCall(RowsOnDevice(pc, *kind, &A, &rows));
  if (rows == 0) {
    PetscCall(PetscObjectCompose((PetscObject)pc, NAME, nullptr));
    pc->ops->apply          = kind->ops.apply;
    pc->ops->applytranspose = kind->ops.applytranspose;
    PetscCall((*kind->ops.setup)(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  options.size = kind->variable ? 0 : rows;
  PetscCall(GetWork(pc, &work));
  if (!work) {
    PetscCallCXX(work = new Work);
    PetscCall(ComposeOwned((PetscObject)pc, NAME, work));
  }
  if (!work->blocks || pc->flag != SAME_NONZERO_PATTERN)
    PetscCallCXX(work->blocks = std::make_unique<BlockJacobi>(options));
  PetscCall(work->blocks->SetUp(pc, A, 0));
  pc->ops->apply          = Apply<false>;
  pc->ops->applytranspose = Apply<true>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Kind *kind> PetscErrorCode View(PC pc, PetscViewer viewer)
{
  PetscBool ascii;
  PetscInt  size;
  Work     *work;

  PetscFunctionBegin;
  PetscCall(GetWork(pc, &work));
  if (!work) {
    if (kind->ops.view) PetscCall((*kind->ops.view)(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kind->variable) {
    PetscCall(MatGetBlockSize(pc->pmat, &size));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  point-block size %" PetscInt_FMT "\n", size));
  }
  PetscCall(work->blocks->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Kind *kind> PetscErrorCode Create(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*kind->create)(pc));
  kind->ops      = *pc->ops;
  pc->ops->setup = SetUp<kind>;
  pc->ops->view  = View<kind>;
  PetscCall(PetscObjectCompose((PetscObject)pc, NAME, nullptr)); // of an earlier type of this PC
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Kind *kind> PetscErrorCode Register()
{
  PetscErrorCode (*create)(PC) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, kind->type, &create));
  if (!create || create == Create<kind>) PetscFunctionReturn(PETSC_SUCCESS);
  kind->create = create;
  PetscCall(PCRegister(kind->type, Create<kind>));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode RegisterPointBlocks()
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(Register<&point>());
  PetscCall(Register<&variable>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::blocks
