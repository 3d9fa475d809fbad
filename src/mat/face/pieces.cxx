/// What a rank receives is told by those who send, one integer each.
#include "mat/face/pieces.hpp"
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

PetscErrorCode PieceExchange::SetUp(MPI_Comm comm, const std::vector<Piece> &sent, PetscInt *receives, bool *fits)
{
  std::vector<PetscMPIInt> to;
  std::vector<PetscInt>    counts;
  PetscMPIInt              sources, *from;
  PetscInt                *received;
  PetscCount               all = 0;

  PetscFunctionBegin;
  sent_.clear();
  received_.clear();
  sends_ = 0;
  for (const Piece &piece : sent) {
    if (piece.count == 0) continue;
    PetscCallCXX(to.push_back(piece.rank));
    PetscCallCXX(counts.push_back(piece.count));
    PetscCallCXX(sent_.push_back(piece));
    sends_ += piece.count;
  }
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, static_cast<PetscMPIInt>(to.size()), to.data(), counts.data(),
                                   &sources, &from, static_cast<void *>(&received)));
  for (PetscMPIInt s = 0; s < sources; s++) PetscCallCXX(received_.push_back(Piece{from[s], received[s]}));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(received));
  std::sort(received_.begin(), received_.end(), [](const Piece &a, const Piece &b) { return a.rank < b.rank; });
  for (const Piece &piece : received_) all += piece.count;
  PetscMPIInt too_many[2] = {all >= PETSC_MAX_INT, all >= LARGE}, any[2];
  PetscCallMPI(MPI_Allreduce(too_many, any, 2, MPI_INT, MPI_MAX, comm));
  *fits     = !any[0];
  due_      = any[1] != 0;
  *receives = receives_ = *fits ? static_cast<PetscInt>(all) : 0;
  if (*fits && comm_ == MPI_COMM_NULL) PetscCall(PetscCommDuplicate(comm, &comm_, &tag_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// call(first entry, count, rank) for each message of the pieces, of which a large one needs several.
template <class Call> PetscErrorCode EachMessage(const std::vector<Piece> &pieces, const Call &call)
{
  constexpr PetscInt MOST  = std::numeric_limits<PetscMPIInt>::max();
  PetscInt           first = 0;

  PetscFunctionBegin;
  for (const Piece &piece : pieces)
    for (PetscInt left = piece.count; left > 0;) {
      const PetscInt count = PetscMin(left, MOST);
      PetscCall(call(first, static_cast<PetscMPIInt>(count), piece.rank));
      first += count;
      left -= count;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Both on the host.
template <class T> PetscErrorCode PieceExchange::Pass(MPI_Datatype type, const T *from, T *to) const
{
  std::vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCall(EachMessage(received_, [&](PetscInt first, PetscMPIInt count, PetscMPIInt rank) {
    PetscFunctionBegin;
    PetscCallCXX(requests.push_back(MPI_REQUEST_NULL));
    PetscCallMPI(MPI_Irecv(to + first, count, type, rank, tag_, comm_, &requests.back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(EachMessage(sent_, [&](PetscInt first, PetscMPIInt count, PetscMPIInt rank) {
    PetscFunctionBegin;
    PetscCallCXX(requests.push_back(MPI_REQUEST_NULL));
    PetscCallMPI(MPI_Isend(from + first, count, type, rank, tag_, comm_, &requests.back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallMPI(MPI_Waitall(static_cast<PetscMPIInt>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::Exchange(const PetscInt *from, PetscInt *to)
{
  PetscFunctionBegin;
  PetscCall(Pass(MPIU_INT, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To pin memory takes longer than to exchange what fits in it.
static PetscErrorCode SharedPinnedMemory(std::shared_ptr<PinnedMemory> *memory)
{
  static std::weak_ptr<PinnedMemory> shared;

  PetscFunctionBegin;
  *memory = shared.lock();
  if (*memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(*memory = std::make_shared<PinnedMemory>());
  shared = *memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::Reserve(Space space)
{
  PetscFunctionBegin;
  if (space == Space::Host || channel_.made()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!host_) PetscCall(SharedPinnedMemory(&host_));
  PetscCall(host_->Reserve((static_cast<size_t>(sends_) + static_cast<size_t>(receives_)) * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PieceExchange::Exchange(Space space, const Scalar *from, Scalar *to)
{
  const size_t out = static_cast<size_t>(sends_) * sizeof(Scalar), in = static_cast<size_t>(receives_) * sizeof(Scalar);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(Decide(space));
  if (sends_ == 0 && receives_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (channel_.made()) {
    PetscCall(ExchangeByPeers(space, from, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (space == Space::Host) {
    PetscCall(Pass(MPIU_SCALAR, from, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Reserve(space));
  Scalar *const sent = static_cast<Scalar *>(host_->data()), *const received = sent + sends_;
  PetscCall(DeviceStream(&stream));
  if (out) PetscCall(DeviceCopyOut(sent, from, out, stream));
  PetscCall(DeviceSynchronize(stream));
  PetscCall(Pass(MPIU_SCALAR, sent, received));
  if (in) PetscCall(DeviceCopyIn(to, received, in, stream));
  if (in) PetscCall(DeviceSynchronize(stream)); // the memory may be given back, or be another exchange's
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(out)));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(in)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// PetscSFGetRootRanks() and PetscSFGetLeafRanks(), whose counts are PetscInt or PetscMPIInt.
template <class Count>
PetscErrorCode LeavesByRank(PetscErrorCode (*get)(PetscSF, Count *, const PetscMPIInt **, const PetscInt **,
                                                  const PetscInt **, const PetscInt **),
                            PetscSF forest, bool *by_rank)
{
  Count              ranks;
  const PetscMPIInt *rank;
  const PetscInt    *offset, *leaf;

  PetscFunctionBegin;
  PetscCall((*get)(forest, &ranks, &rank, &offset, &leaf, nullptr));
  *by_rank = std::is_sorted(rank, rank + ranks);
  for (PetscInt k = 0; ranks && k < offset[ranks]; k++) *by_rank = *by_rank && leaf[k] == k;
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
  for (Count r = 0; r < ranks; r++) PetscCallCXX(pieces->push_back(Piece{rank[r], offset[r + 1] - offset[r]}));
  if (ranks) PetscCallCXX(roots->assign(root, root + offset[ranks]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode AskedPieces(PetscSF forest, std::vector<Piece> *pieces, std::vector<PetscInt> *roots, bool *by_rank)
{
  PetscFunctionBegin;
  PetscCall(LeavesByRank(PetscSFGetRootRanks, forest, by_rank));
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
