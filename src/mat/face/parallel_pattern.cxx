/// A pattern becomes that of a parallel matrix through PETSc's own operations: exact preallocation, the columns of each
/// block, assembly, in which PETSc numbers the ghosts.
#include "mat/face/parallel_pattern.hpp"

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
} // namespace

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
