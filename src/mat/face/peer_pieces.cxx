/// Pieces through memory of peers: they lie as a channel wants them, by rank.
#include <algorithm>
#include "mat/face/pieces.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::face
{

comm::Graph PieceExchange::GraphOfPieces(size_t ranks) const
{
  comm::Graph graph;

  graph.send_start.assign(ranks + 1, 0);
  graph.receive_start.assign(ranks + 1, 0);
  for (const Piece &piece : sent_) graph.send_start[static_cast<size_t>(piece.rank) + 1] = piece.count;
  for (const Piece &piece : received_) graph.receive_start[static_cast<size_t>(piece.rank) + 1] = piece.count;
  for (size_t r = 0; r < ranks; r++) {
    graph.send_start[r + 1] += graph.send_start[r];
    graph.receive_start[r + 1] += graph.receive_start[r];
  }
  return graph;
}

PetscErrorCode PieceExchange::LetPeersServe(PetscOptions options)
{
  PetscFunctionBegin;
  PetscCall(comm::ReadUse(options, &use_, &timeout_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes the channel, or not, once; by all ranks in the same call.
PetscErrorCode PieceExchange::Decide(Space space)
{
  constexpr int HOST = 1, DEVICE = 2, NONE = 4;
  const bool    by_rank =
      std::is_sorted(sent_.begin(), sent_.end(), [](const Piece &a, const Piece &b) { return a.rank < b.rank; });
  std::shared_ptr<comm::Peers> peers;
  comm::Graph                  graph;
  std::string                  why;
  PetscMPIInt                  mine, any, size;
  bool                         lacks = false;

  PetscFunctionBegin;
  if (use_ == comm::Use::No || decided_) PetscFunctionReturn(PETSC_SUCCESS);
  decided_ = due_;
  due_     = true;
  if (!decided_) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Device)
    PetscCall(MayLackMemory([&] { return staged_.Allocate(static_cast<size_t>(sends_), space); }, &lacks));
  mine = !by_rank || lacks ? NONE : space == Space::Host ? HOST : DEVICE;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_BOR, comm_));
  if (any == HOST || any == DEVICE) PetscCall(comm::Peers::Find(comm_, space, use_, &peers, &why));
  if (peers && why.empty()) {
    PetscCallMPI(MPI_Comm_size(comm_, &size));
    PetscCallCXX(graph = GraphOfPieces(static_cast<size_t>(size)));
    PetscCall(channel_.Create(peers, graph, timeout_, &why));
  }
  if (channel_.made())
    host_.reset();
  else
    staged_ = Array<Scalar>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values in the other space than the channel's are copied before and behind it.
PetscErrorCode PieceExchange::ExchangeByPeers(Space space, const Scalar *from, Scalar *to)
{
  const Space  there = channel_.peers()->space();
  const size_t out = static_cast<size_t>(sends_) * sizeof(Scalar), in = static_cast<size_t>(receives_) * sizeof(Scalar);
  std::vector<Scalar> sent;
  const Scalar       *received;
  Stream              stream = nullptr;

  PetscFunctionBegin;
  if (space == Space::Device || there == Space::Device) PetscCall(DeviceStream(&stream));
  if (space != there && out) {
    if (there == Space::Device) {
      PetscCall(DeviceCopyIn(staged_.data(), from, out, stream));
      from = staged_.data();
    } else {
      PetscCallCXX(sent.resize(static_cast<size_t>(sends_)));
      PetscCall(CopyToHost(space, from, sent.size(), sent.data()));
      from = sent.data();
    }
  }
  PetscCall(channel_.Begin(from, there == Space::Device ? stream : nullptr));
  PetscCall(channel_.End(there == Space::Device ? stream : nullptr, &received));
  if (!in) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == there)
    PetscCall(CopyWithin(space, received, static_cast<size_t>(receives_), to));
  else if (there == Space::Device)
    PetscCall(DeviceCopyOut(to, received, in, stream));
  else
    PetscCall(CopyFromHost(space, received, static_cast<size_t>(receives_), to));
  if (space != there) PetscCall(DeviceSynchronize(stream)); // the host's values may change, or are read, next
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
