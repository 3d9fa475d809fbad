/// A pattern becomes that of a parallel matrix through PETSc's own operations: exact preallocation, a row at a time,
/// assembly, in which PETSc numbers the ghosts. The entries are ones, as a matrix may leave out zeros.
#include "mat/face/parallel_pattern.hpp"
#include <algorithm>

namespace sparsegpu::face
{

namespace
{
PetscErrorCode Lengths(const HostPattern &pattern, std::vector<PetscInt> *lengths)
{
  PetscFunctionBegin;
  for (size_t r = 0; r + 1 < pattern.i.size(); r++) PetscCallCXX(lengths->push_back(pattern.i[r + 1] - pattern.i[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each row with global columns, ascending: those of the off-diagonal block lie on both sides of the diagonal one's.
PetscErrorCode SetRows(Mat A, const HostPattern patterns[2])
{
  const HostPattern       &d = patterns[0], &o = patterns[1];
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> ones;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->rmap->n; r++) {
    const PetscInt *const        off    = o.j.data() + o.i[static_cast<size_t>(r)],
                          *const end    = o.j.data() + o.i[static_cast<size_t>(r) + 1],
                          *const behind = std::lower_bound(off, end, A->cmap->rend);
    const PetscInt               row    = A->rmap->rstart + r;
    PetscCallCXX(columns.assign(off, behind));
    for (PetscInt e = d.i[static_cast<size_t>(r)]; e < d.i[static_cast<size_t>(r) + 1]; e++)
      PetscCallCXX(columns.push_back(A->cmap->rstart + d.j[static_cast<size_t>(e)]));
    PetscCallCXX(columns.insert(columns.end(), behind, end));
    PetscCallCXX(ones.assign(columns.size(), 1));
    PetscCall((*A->ops->setvalues)(A, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), ones.data(),
                                   INSERT_VALUES));
  }
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
    PetscCall(SetRows(A, patterns));
    PetscCall(AssemblePattern(A)); // and the blocks become ours
  }
  PetscCall(GetParentOps(true, &parent));
  PetscCall((*parent->setoption)(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); // as PETSc's preallocation leaves it
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
