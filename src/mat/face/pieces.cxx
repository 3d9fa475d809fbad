/// What a rank receives is told by those who send, two integers each.
#include "mat/face/pieces.hpp"
#include <algorithm>
#include <numeric>

namespace sparsegpu::face
{

PetscErrorCode AllAgree(MPI_Comm comm, bool mine, bool *all)
{
  PetscMPIInt yes = mine, every;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&yes, &every, 1, MPI_INT, MPI_MIN, comm));
  *all = every != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BuildForest(MPI_Comm comm, PetscInt roots, const std::vector<Piece> &pieces, PetscSF *forest,
                           PetscInt *receives, bool *fits)
{
  std::vector<PetscMPIInt> to, order;
  std::vector<PetscInt>    chunks; // the number of entries for a rank, and the first one
  PetscMPIInt              sources, *from;
  PetscInt                *received, leaf = 0;
  PetscSFNode             *remote;
  PetscCount               all = 0;

  PetscFunctionBegin;
  for (const Piece &piece : pieces) {
    PetscCallCXX(to.push_back(piece.rank));
    PetscCallCXX(chunks.push_back(piece.count));
    PetscCallCXX(chunks.push_back(piece.first));
  }
  PetscCall(PetscCommBuildTwoSided(comm, 2, MPIU_INT, static_cast<PetscMPIInt>(to.size()), to.data(), chunks.data(),
                                   &sources, &from, static_cast<void *>(&received)));
  PetscCallCXX(order.resize(static_cast<size_t>(sources)));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [from](PetscMPIInt a, PetscMPIInt b) { return from[a] < from[b]; });
  for (PetscMPIInt s = 0; s < sources; s++) all += received[2 * s];
  PetscCall(AllAgree(comm, all < PETSC_MAX_INT, fits));
  *receives = *fits ? static_cast<PetscInt>(all) : 0;
  if (*fits) {
    PetscCall(PetscMalloc1(*receives, &remote));
    for (PetscMPIInt s : order)
      for (PetscInt k = 0; k < received[2 * s]; k++, leaf++) {
        remote[leaf].rank  = from[s];
        remote[leaf].index = received[2 * s + 1] + k;
      }
    PetscCall(PetscSFCreate(comm, forest));
    PetscCall(PetscSFSetGraph(*forest, roots, *receives, nullptr, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
    PetscCall(PetscSFSetUp(*forest));
  }
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Broadcast(PetscSF forest, Space space, const Scalar *roots, Scalar *leaves)
{
  const bool         device = space == Space::Device;
  const PetscMemType where  = device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (device) PetscCall(DeviceBeforeVectors()); // PETSc's kernels read what ours have written
  PetscCall(PetscSFBcastWithMemTypeBegin(forest, MPIU_SCALAR, where, roots, where, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest, MPIU_SCALAR, roots, leaves, MPI_REPLACE));
  if (device) PetscCall(DeviceAfterVectors());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// By PetscSFGetLeafRanks(), whose count is a PetscInt or a PetscMPIInt.
template <class Count> PetscErrorCode RootsOfLeaves(PetscErrorCode (*get)(PetscSF, Count *, const PetscMPIInt **,
                                                                          const PetscInt **, const PetscInt **),
                                                    PetscSF forest, std::vector<PetscInt> *roots)
{
  Count           ranks;
  const PetscInt *offset, *root;

  PetscFunctionBegin;
  PetscCall((*get)(forest, &ranks, nullptr, &offset, &root));
  if (ranks > 0) PetscCallCXX(roots->assign(root, root + offset[ranks]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode AskedRoots(PetscSF forest, std::vector<PetscInt> *roots)
{
  PetscFunctionBegin;
  PetscCallCXX(roots->clear());
  PetscCall(RootsOfLeaves(PetscSFGetLeafRanks, forest, roots));
  std::sort(roots->begin(), roots->end());
  roots->erase(std::unique(roots->begin(), roots->end()), roots->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Broadcast(PetscSF forest, const PetscInt *roots, PetscInt *leaves)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
