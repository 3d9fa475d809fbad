/// The life of a channel: its ranks tell each other where their flags and buffers are; the steps are the backends'.
#include "comm/channel.hpp"
#include <algorithm>
#include <atomic>
#include <numeric>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
/// Where the receiver of a rank's entries wants them.
struct Address {
  Piece        piece;
  size_t       flag, buffer[2]; ///< bytes from the beginning of the piece; the buffer's are of this sender's part
  std::int64_t count;           ///< entries that it expects
};

size_t BytesOfFlags(size_t count)
{
  return (count * Side::SPACING * sizeof(Exchange) + Peers::ALIGNMENT - 1) / Peers::ALIGNMENT * Peers::ALIGNMENT;
}
size_t BytesOfHalf(PetscInt receives)
{
  return (static_cast<size_t>(receives) * sizeof(Scalar) + Peers::ALIGNMENT - 1) / Peers::ALIGNMENT * Peers::ALIGNMENT;
}
} // namespace

Channel::~Channel()
{
  Free();
}

void Channel::Free()
{
  if (peers_) peers_->GiveBack(piece_);
  peers_.reset();
  side_ = {};
}

/// *neighbours: those of the graph, with addresses of this process.
PetscErrorCode Channel::Connect(const Graph &graph, std::vector<Neighbour> *neighbours, std::string *why)
{
  const size_t         size = graph.send_start.size() - 1;
  std::vector<Address> mine(size), theirs(size);
  size_t               count = 0, before = 0;

  PetscFunctionBegin;
  const auto sends    = [&](size_t r) { return graph.send_start[r + 1] - graph.send_start[r]; };
  const auto receives = [&](size_t r) { return graph.receive_start[r + 1] - graph.receive_start[r]; };
  for (size_t r = 0; r < size; r++) count += sends(r) || receives(r);
  const size_t flags = BytesOfFlags(count), half = BytesOfHalf(graph.receives());
  PetscCall(peers_->Take(flags + 2 * half, &piece_, why));
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t r = 0; r < size; r++) {
    const size_t at = flags + static_cast<size_t>(graph.receive_start[r]) * sizeof(Scalar);
    mine[r]         = Address{piece_, before * Side::SPACING * sizeof(Exchange), {at, at + half}, receives(r)};
    before += sends(r) || receives(r);
  }
  // Flags are zero before a rank hears where they are.
  PetscCallMPI(
      MPI_Alltoall(mine.data(), sizeof(Address), MPI_BYTE, theirs.data(), sizeof(Address), MPI_BYTE, peers_->comm()));
  for (size_t r = 0; r < size; r++) {
    if (!sends(r) && !receives(r)) continue;
    PetscCheck(theirs[r].count == sends(r), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Rank %zu expects %lld entries and is sent %lld", r, (long long)theirs[r].count, (long long)sends(r));
    char *const there = peers_->at(theirs[r].piece, static_cast<int>(r));
    Neighbour   n;
    n.flag       = reinterpret_cast<Exchange *>(there + theirs[r].flag);
    n.buffer[0]  = reinterpret_cast<Scalar *>(there + theirs[r].buffer[0]);
    n.buffer[1]  = reinterpret_cast<Scalar *>(there + theirs[r].buffer[1]);
    n.send_begin = graph.send_start[r];
    n.send_end   = graph.send_start[r + 1];
    n.receives   = receives(r);
    n.rank       = static_cast<int>(r);
    PetscCallCXX(neighbours->push_back(n));
    PetscCallCXX(ranks_.push_back(n.rank));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The tables to where the steps run.
PetscErrorCode Channel::Place(const Graph &graph, std::vector<Neighbour> &&neighbours)
{
  const Space space = peers_->space();
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(peers_->comm(), &rank));
  char *const here  = peers_->at(piece_, rank);
  const auto  count = neighbours.size();
  PetscCall(neighbours_.Take(std::move(neighbours), space));
  PetscCall(send_.Copy(graph.send.data(), graph.send.size(), space)); // none, where entries are sent as they lie
  side_.neighbours = neighbours_.data();
  side_.send       = graph.gathers() ? send_.data() : nullptr;
  side_.flags      = reinterpret_cast<Exchange *>(here);
  for (int h = 0; h < 2; h++)
    side_.received[h] =
        reinterpret_cast<Scalar *>(here + BytesOfFlags(count) + static_cast<size_t>(h) * BytesOfHalf(graph.receives()));
  side_.sends    = graph.sends();
  side_.receives = graph.receives();
  side_.count    = static_cast<int>(count);
  if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OrderSums(graph));
  PetscCall(report_.Reserve(sizeof(std::uint64_t)));
  *static_cast<std::uint64_t *>(report_.data()) = 0;
  PetscCall(state_.Reserve(sizeof(State)));
  PetscCall(ClearDevice(state_.data(), sizeof(State)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::OrderSums(const Graph &graph)
{
  std::vector<int> order, target, start;

  PetscFunctionBegin;
  PetscCallCXX(order.resize(graph.send.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto entry = [&](int e) { return graph.send[static_cast<size_t>(e)]; };
  PetscCallCXX(std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return entry(a) < entry(b); }));
  for (size_t p = 0; p < order.size(); p++) {
    if (p && entry(order[p]) == target.back()) continue;
    PetscCallCXX(target.push_back(entry(order[p])));
    PetscCallCXX(start.push_back(static_cast<int>(p)));
  }
  PetscCallCXX(start.push_back(static_cast<int>(order.size())));
  PetscCall(target_.Take(std::move(target), Space::Device));
  PetscCall(start_.Take(std::move(start), Space::Device));
  PetscCall(source_.Take(std::move(order), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::Create(std::shared_ptr<Peers> peers, const Graph &graph, double timeout, std::string *why)
{
  std::vector<Neighbour> neighbours;

  PetscFunctionBegin;
  Free();
  ranks_.clear();
  piece_    = Piece();
  exchange_ = 0;
  timeout_  = timeout;
  peers_    = std::move(peers);
  PetscCall(Connect(graph, &neighbours, why));
  if (why->empty()) {
    const PetscErrorCode code = Place(graph, std::move(neighbours));
    if (code) PetscCallCXX(*why = "a rank has no memory for the lists of its neighbours");
    PetscCall(AgreeOnReason(peers_->comm(), why));
  }
  if (!why->empty()) Free();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::Lost(std::uint64_t lost)
{
  PetscFunctionBegin;
  PetscCheck(!lost, PETSC_COMM_SELF, PETSC_ERR_SYS,
             "Rank %d has not taken part in exchange %llu of ghosts within %g seconds: it is lost, or busy for longer "
             "than -sparsegpu_peer_timeout allows",
             ranks_[static_cast<size_t>(NeighbourOf(lost))], (unsigned long long)(lost >> 20), timeout_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::Check()
{
  PetscFunctionBegin;
  if (report_.data()) PetscCall(Lost(*static_cast<const volatile std::uint64_t *>(report_.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

DeviceExchange Channel::Current() const
{
  return DeviceExchange{side_, exchange_, static_cast<unsigned long long>(timeout_ * 1e9),
                        static_cast<State *>(state_.data()), static_cast<std::uint64_t *>(report_.data())};
}

PetscErrorCode Channel::Next(DeviceExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(Check());
  exchange_++;
  *exchange = Current();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::Begin(const Scalar *from, Stream stream)
{
  std::uint64_t lost = 0;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (peers_->space() == Space::Device) {
    DeviceExchange exchange;
    PetscCall(Next(&exchange));
    PetscCall(BeginExchange_CUDA(exchange, from, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  exchange_++;
  PetscCall(Begin_Host(side_, from, exchange_, timeout_, peers_->comm(), &lost));
  PetscCall(Lost(lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::End(Stream stream, const Scalar **received)
{
  std::uint64_t lost = 0;

  PetscFunctionBegin;
  *received = side_.received[HalfOf(exchange_)];
#if defined(SPARSEGPU_HAVE_CUDA)
  if (peers_->space() == Space::Device) {
    PetscCall(EndExchange_CUDA(Current(), stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(End_Host(side_, exchange_, timeout_, peers_->comm(), &lost));
  PetscCall(Lost(lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Channel::AddReceived(const Scalar *received, Scalar *to, Stream stream) const
{
  PetscFunctionBegin;
  if (peers_->space() == Space::Host) {
    for (size_t e = 0; e < send_.size(); e++) to[send_.data()[e]] += received[e];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(AddReceived_CUDA(static_cast<int>(target_.size()), target_.data(), start_.data(), source_.data(), received,
                             to, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
