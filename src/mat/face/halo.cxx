/// The halo is told by the ghosts' columns themselves: addresses and PETSc's nonzero state repeat.
#include "mat/face/halo.hpp"
#include <algorithm>
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

PetscErrorCode Halo::Free()
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&forest_));
  PetscCall(DeviceOrder()); // products may be reading the ghosts on another stream
  for (Vec &ghosts : ghosts_) PetscCall(VecDestroy(&ghosts));
  columns_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::PrepareGhosts(PetscInt count, Space space)
{
  Vec     *ghosts = &ghosts_[static_cast<int>(space)];
  PetscInt n      = -1;

  PetscFunctionBegin;
  if (*ghosts) PetscCall(VecGetLocalSize(*ghosts, &n));
  if (n == count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceOrder()); // products may be reading the ghosts on another stream
  PetscCall(VecDestroy(ghosts));
  PetscCall(VecCreate(PETSC_COMM_SELF, ghosts));
  PetscCall(VecSetSizes(*ghosts, count, count));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(VecSetType(*ghosts, space == Space::Device ? VECSEQCUDA : VECSEQ));
#else
  PetscCall(VecSetType(*ghosts, VECSEQ));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Prepare(Mat A, Space space)
{
  Mat             diagonal, off;
  const PetscInt *columns;
  PetscMPIInt     stale, any;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &columns));
  const PetscInt count = off->cmap->n;
  PetscCall(PrepareGhosts(count, space));
  stale = !forest_ || columns_.size() != static_cast<size_t>(count) ||
          !std::equal(columns, columns + count, columns_.begin());
  PetscCallMPI(MPI_Allreduce(&stale, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFDestroy(&forest_));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &forest_));
  PetscCall(
      PetscSFSetGraphLayout(forest_, A->cmap, count, nullptr, PETSC_OWN_POINTER, const_cast<PetscInt *>(columns)));
  PetscCall(PetscSFSetUp(forest_));
  PetscCallCXX(columns_.assign(columns, columns + count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
