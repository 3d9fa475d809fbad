/// A pattern becomes that of a parallel matrix through PETSc's own operations: exact preallocation, the columns of each
/// block, assembly, in which PETSc numbers the ghosts.
///
/// One that is in another space comes as a matrix of one row a process, with each ghost once, which is all that PETSc
/// needs to number the ghosts and to set up their exchange. Then empty blocks of all rows take the place of both, and
/// each gets its pattern as a sequential matrix does.
#include "mat/face/parallel_pattern.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/pattern.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode Lengths(const HostPattern &pattern, std::vector<PetscInt> *lengths)
{
  PetscFunctionBegin;
  PetscCallCXX(lengths->resize(pattern.i.empty() ? 0 : pattern.i.size() - 1));
  for (size_t r = 0; r < lengths->size(); r++) (*lengths)[r] = pattern.i[r + 1] - pattern.i[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of blocks that are preallocated exactly.
PetscErrorCode SetColumns(Mat A, const HostPattern patterns[2])
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (int b = 0; b < 2; b++)
    if (!patterns[b].j.empty()) // else all rows are as they were preallocated: empty
      PetscCall(MatSeqAIJSetColumnIndices(blocks[b], const_cast<PetscInt *>(patterns[b].j.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatAssemblyBegin() and MatAssemblyEnd() as far as the pattern goes: nothing is viewed or tested.
PetscErrorCode AssemblePattern(Mat A)
{
  const PetscBool before = A->nooffprocentries;

  PetscFunctionBegin;
  A->nooffprocentries = PETSC_TRUE;
  PetscCall((*A->ops->assemblybegin)(A, MAT_FINAL_ASSEMBLY));
  PetscCall((*A->ops->assemblyend)(A, MAT_FINAL_ASSEMBLY));
  A->nooffprocentries = before;
  A->insertmode       = NOT_SET_VALUES;
  A->assembled        = PETSC_TRUE;
  A->ass_nonzerostate = A->nonzerostate;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The patterns of a matrix that has each of these ghosts.
PetscErrorCode NameGhosts(PetscInt rows, const std::vector<PetscInt> &ghosts, HostPattern patterns[2])
{
  const size_t beginnings = static_cast<size_t>(rows) + 1;

  PetscFunctionBegin;
  PetscCheck(rows > 0 || ghosts.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu ghosts of no rows", ghosts.size());
  PetscCallCXX(patterns[0].i.assign(beginnings, 0));
  PetscCallCXX(patterns[1].i.assign(beginnings, static_cast<PetscInt>(ghosts.size())));
  patterns[1].i[0] = 0;
  PetscCallCXX(patterns[1].j = ghosts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A block of A's rows without a pattern takes the place of `block`.
PetscErrorCode Empty(Mat A, bool diagonal, Mat block)
{
  const PetscInt rows = A->rmap->n, cols = block->cmap->n;
  Mat            fresh;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &fresh));
  PetscCall(MatSetSizes(fresh, rows, cols, rows, cols));
  PetscCall(MatSetBlockSizes(fresh, A->rmap->bs, diagonal ? A->cmap->bs : block->cmap->bs));
  PetscCall(MatSetType(fresh, MATSEQAIJSPARSEGPU));
  PetscCall(MatHeaderReplace(block, &fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not collective.
PetscErrorCode TakeBlockPatterns(Mat A, BlockPatterns *patterns, Space space)
{
  BlocksMayLeave scope;
  Mat            blocks[2];

  PetscFunctionBegin;
  PetscCall(GetBlocks(A, blocks));
  for (int b = 0; b < 2; b++) PetscCall(Empty(A, b == 0, blocks[b]));
  PetscCall(ConvertBlocks(A)); // they get A's settings
  PetscCall(scope.Begin(A));
  for (int b = 0; b < 2; b++) {
    Context *context;
    PetscCall(GetContext(blocks[b], &context));
    context->read_here = true;
    PetscCall(TakePattern(blocks[b], std::move(patterns->i[b]), std::move(patterns->j[b]), space));
  }
  PetscCall(scope.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakePattern(Mat A, BlockPatterns &&patterns, Space space)
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  const PetscLayout     rows = A->rmap;
  PetscLayout           first;
  HostPattern           named[2];
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCheck(!A->preallocated, comm, PETSC_ERR_PLIB, "The matrix has blocks already");
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(OnAll(comm, [&] { return NameGhosts(PetscMin(rows->n, 1), patterns.ghosts, named); }));
  PetscCall(PetscLayoutCreate(comm, &first)); // PETSc's arrays for rows would be made for nothing
  PetscCall(PetscLayoutSetLocalSize(first, PetscMin(rows->n, 1)));
  PetscCall(PetscLayoutSetUp(first));
  A->rmap                   = first;
  const PetscErrorCode code = TakePattern(A, named);
  A->rmap                   = rows;
  PetscCall(PetscLayoutDestroy(&first));
  PetscCall(code);
  PetscCall(OnAll(comm, [&] { return TakeBlockPatterns(A, &patterns, space); }));
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->setoption)(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); // the blocks are new ones
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakePattern(Mat A, const HostPattern patterns[2])
{
  const struct _MatOps *parent;
  std::vector<PetscInt> d, o;

  PetscFunctionBegin;
  PetscCall(Lengths(patterns[0], &d));
  PetscCall(Lengths(patterns[1], &o));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, d.data(), 0, o.data()));
  {
    const AtHomeScope scope;
    PetscCall(SetColumns(A, patterns));
    PetscCall(AssemblePattern(A)); // and the blocks become ours
  }
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->setoption)(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); // as PETSc's preallocation leaves it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
