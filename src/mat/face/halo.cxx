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
  PetscCallCXX(ForgetWays(nullptr));
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

PetscErrorCode Halo::RemakeForest(Mat A, PetscInt count, const PetscInt *columns)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&forest_));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &forest_));
  PetscCall(
      PetscSFSetGraphLayout(forest_, A->cmap, count, nullptr, PETSC_OWN_POINTER, const_cast<PetscInt *>(columns)));
  PetscCall(PetscSFSetUp(forest_));
  PetscCallCXX(columns_.assign(columns, columns + count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `told`: null if channels may be made again, else why there are none.
void Halo::ForgetWays(const char *told)
{
  for (Way &way : ways_) {
    for (comm::Channel &channel : way.channel) channel.Free();
    way.decided[0] = way.decided[1] = told != nullptr;
    way.told                        = told ? told : "";
  }
}

PetscErrorCode Halo::PrepareChannels(Mat A, Space space, bool back)
{
  std::shared_ptr<comm::Peers> peers;
  comm::Graph                  graph;
  comm::Use                    use;
  std::string                  why;
  double                       timeout;

  PetscFunctionBegin;
  PetscCall(comm::ReadUse(((PetscObject)A)->options, &use, &timeout));
  PetscCall(comm::Peers::Find(PetscObjectComm((PetscObject)A), space, use, &peers, &why));
  if (peers)
    PetscCall(comm::GraphOfGhosts(A->cmap, static_cast<PetscInt>(columns_.size()), columns_.data(), &graph, &why));
  for (int b = 0; b < (back ? 2 : 1); b++) {
    Way *const way = this->way(space);
    if (way->decided[b]) continue;
    way->decided[b] = true;
    if (why.empty()) {
      if (b) PetscCallCXX(graph = comm::Reversed(graph));
      PetscCall(way->channel[b].Create(peers, graph, timeout, &why));
    }
    if (!b) PetscCallCXX(way->told = why.empty() ? "peer memory" : "PetscSF (" + why + ")");
    PetscCall(PetscInfo(A, "Ghosts of products on the %s travel %s by %s%s%s\n", space == Space::Host ? "host" : "GPU",
                        b ? "back" : "here", why.empty() ? "peer memory" : "PetscSF", why.empty() ? "" : ": ",
                        why.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Fits(Mat A, bool *fits) const
{
  Mat             diagonal, off;
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &columns));
  *fits = forest_ && columns_.size() == static_cast<size_t>(off->cmap->n) &&
          std::equal(columns_.begin(), columns_.end(), columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Halo::Prepare(Mat A, Space space, bool back)
{
  constexpr int   STALE = 1, UNDECIDED = 2, HOST = 4, DEVICE = 8;
  Mat             diagonal, off;
  const PetscInt *columns;
  PetscMPIInt     mine, any;
  bool            fits;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &columns));
  const PetscInt count = off->cmap->n;
  PetscCall(PrepareGhosts(count, space));
  mine = space == Space::Host ? HOST : DEVICE;
  PetscCall(Fits(A, &fits));
  if (!fits) mine |= STALE;
  if (!way(space)->decided[back]) mine |= UNDECIDED;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_BOR, PetscObjectComm((PetscObject)A)));
  if (any & STALE) {
    PetscCall(RemakeForest(A, count, columns));
    PetscCallCXX(ForgetWays(nullptr));
  }
  if ((any & HOST) && (any & DEVICE))
    PetscCallCXX(ForgetWays("PetscSF (products run on the host on some ranks)"));
  else if (any & (STALE | UNDECIDED))
    PetscCall(PrepareChannels(A, space, back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
