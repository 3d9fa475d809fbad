/// What a rank receives is told by those who send, one integer each.
#include "mat/face/pieces.hpp"
#include <petsc/private/petscimpl.h>
#include <algorithm>
#include <limits>

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

PieceExchange::~PieceExchange()
{
  if (comm_ != MPI_COMM_NULL) PetscCallAbort(PETSC_COMM_SELF, PetscCommDestroy(&comm_));
}

PetscErrorCode PieceExchange::SetUp(MPI_Comm comm, std::vector<Piece> sent, PetscInt *receives, bool *fits)
{
  std::vector<PetscMPIInt> to;
  std::vector<PetscInt>    counts;
  PetscMPIInt              sources, *from;
  PetscInt                *received;
  PetscCount               all = 0, sends = 0, longest = 0;

  PetscFunctionBegin;
  sent.erase(std::remove_if(sent.begin(), sent.end(), [](const Piece &piece) { return piece.count == 0; }), sent.end());
  for (const Piece &piece : sent) {
    PetscCallCXX(to.push_back(piece.rank));
    PetscCallCXX(counts.push_back(piece.count));
    sends += piece.count;
  }
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, static_cast<PetscMPIInt>(to.size()), to.data(), counts.data(),
                                   &sources, &from, static_cast<void *>(&received)));
  received_.clear();
  for (PetscMPIInt s = 0; s < sources; s++) PetscCallCXX(received_.push_back(Piece{from[s], 0, received[s]}));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(received));
  std::sort(received_.begin(), received_.end(), [](const Piece &a, const Piece &b) { return a.rank < b.rank; });
  for (Piece &piece : received_) {
    piece.first = static_cast<PetscInt>(all);
    all += piece.count;
    longest = std::max<PetscCount>(longest, piece.count);
  }
  PetscCall(AllAgree(
      comm, all < PETSC_MAX_INT && sends < PETSC_MAX_INT && longest <= std::numeric_limits<PetscMPIInt>::max(), fits));
  *receives = *fits ? static_cast<PetscInt>(all) : 0;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (comm_ == MPI_COMM_NULL) PetscCall(PetscCommDuplicate(comm, &comm_, &tag_));
  sent_     = std::move(sent);
  sends_    = static_cast<PetscInt>(sends);
  receives_ = *receives;
  PetscCallCXX(packed_ = sent_);
  PetscInt first = 0;
  for (Piece &piece : packed_) {
    piece.first = first;
    first += piece.count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whatever memory both lie in, that MPI can read.
template <class T>
PetscErrorCode PieceExchange::Pass(const std::vector<Piece> &sent, MPI_Datatype type, const T *from, T *to) const
{
  std::vector<MPI_Request> requests(received_.size() + sent.size());
  MPI_Request             *next = requests.data();

  PetscFunctionBegin;
  for (const Piece &piece : received_)
    PetscCallMPI(
        MPI_Irecv(to + piece.first, static_cast<PetscMPIInt>(piece.count), type, piece.rank, tag_, comm_, next++));
  for (const Piece &piece : sent)
    PetscCallMPI(
        MPI_Isend(from + piece.first, static_cast<PetscMPIInt>(piece.count), type, piece.rank, tag_, comm_, next++));
  PetscCallMPI(MPI_Waitall(static_cast<PetscMPIInt>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::Exchange(const PetscInt *from, PetscInt *to)
{
  PetscFunctionBegin;
  PetscCall(Pass(sent_, MPIU_INT, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Does MPI read and write the device's memory?
bool PassesThere()
{
#if defined(PETSC_HAVE_CUDA)
  return use_gpu_aware_mpi;
#else
  return false;
#endif
}
} // namespace

PetscErrorCode PieceExchange::Reserve(Space space)
{
  PetscFunctionBegin;
  if (space == Space::Device && !PassesThere())
    PetscCall(host_.Reserve((static_cast<size_t>(sends_) + static_cast<size_t>(receives_)) * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::PassByHost(const Scalar *from, Scalar *to)
{
  Scalar *const host = static_cast<Scalar *>(host_.data()), *const received = host + sends_;
  Stream         stream;
  constexpr auto bytes = [](PetscInt count) { return static_cast<size_t>(count) * sizeof(Scalar); };

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (size_t k = 0; k < sent_.size(); k++)
    PetscCall(DeviceCopyOut(host + packed_[k].first, from + sent_[k].first, bytes(sent_[k].count), stream));
  PetscCall(DeviceSynchronize(stream)); // and what was received last has been read
  PetscCall(Pass(packed_, MPIU_SCALAR, host, received));
  if (receives_) PetscCall(DeviceCopyIn(to, received, bytes(receives_), stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes(sends_))));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes(receives_))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::Exchange(Space space, const Scalar *from, Scalar *to)
{
  PetscFunctionBegin;
  PetscCall(Reserve(space));
  if (space == Space::Device && !PassesThere()) {
    PetscCall(PassByHost(from, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceSynchronize(stream));
  }
  PetscCall(Pass(sent_, MPIU_SCALAR, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// PetscSFGetRootRanks() and PetscSFGetLeafRanks(), whose counts are PetscInt or PetscMPIInt.
template <class Count>
PetscErrorCode LeavesByRank(PetscErrorCode (*get)(PetscSF, Count *, const PetscMPIInt **, const PetscInt **,
                                                  const PetscInt **, const PetscInt **),
                            PetscSF forest, bool *ascend)
{
  Count              ranks;
  const PetscMPIInt *rank;
  const PetscInt    *offset, *leaf;

  PetscFunctionBegin;
  PetscCall((*get)(forest, &ranks, &rank, &offset, &leaf, nullptr));
  *ascend = std::is_sorted(rank, rank + ranks);
  for (PetscInt k = 0; ranks && k < offset[ranks]; k++) *ascend = *ascend && leaf[k] == k;
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Count> PetscErrorCode RootsByRank(PetscErrorCode (*get)(PetscSF, Count *, const PetscMPIInt **,
                                                                        const PetscInt **, const PetscInt **),
                                                  PetscSF forest, std::vector<Piece> *pieces,
                                                  std::vector<PetscInt> *roots)
{
  Count              ranks;
  const PetscMPIInt *rank;
  const PetscInt    *offset, *root;

  PetscFunctionBegin;
  pieces->clear();
  roots->clear();
  PetscCall((*get)(forest, &ranks, &rank, &offset, &root));
  for (Count r = 0; r < ranks; r++)
    PetscCallCXX(pieces->push_back(Piece{rank[r], offset[r], offset[r + 1] - offset[r]}));
  if (ranks) PetscCallCXX(roots->assign(root, root + offset[ranks]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode AskedPieces(PetscSF forest, std::vector<Piece> *pieces, std::vector<PetscInt> *roots)
{
  bool ascend = true;

  PetscFunctionBegin;
  PetscCall(LeavesByRank(PetscSFGetRootRanks, forest, &ascend));
  PetscCheck(ascend, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Leaves that do not lie by rank");
  PetscCall(RootsByRank(PetscSFGetLeafRanks, forest, pieces, roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AskedRoots(PetscSF forest, std::vector<PetscInt> *roots)
{
  std::vector<Piece> pieces;

  PetscFunctionBegin;
  PetscCall(RootsByRank(PetscSFGetLeafRanks, forest, &pieces, roots));
  std::sort(roots->begin(), roots->end());
  roots->erase(std::unique(roots->begin(), roots->end()), roots->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
