/// The life of a reducer, and reductions by loops of the host.
#include "comm/reduce.hpp"
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

void Reducer::Free()
{
  if (peers_) peers_->GiveBack(piece_);
  peers_.reset();
  side_ = {};
}

PetscErrorCode Reducer::Create(std::shared_ptr<Peers> peers, double timeout, std::string *why)
{
  std::vector<std::uint64_t *> there;
  std::vector<Piece>           pieces;
  PetscMPIInt                  rank, ranks;

  PetscFunctionBegin;
  Free();
  const MPI_Comm comm = peers->comm();
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks > ReduceSide::RANKS) {
    PetscCallCXX(*why = "more than " + std::to_string(ReduceSide::RANKS) + " ranks");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(
      peers->Take((2 * ReduceSide::WORDS + 2) * sizeof(std::uint64_t), &piece_, why)); // all zero: of no reduction
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  peers_   = std::move(peers);
  timeout_ = timeout;
  lost_    = 0;
  PetscCallCXX(pieces.resize(static_cast<size_t>(ranks)));
  PetscCallMPI(MPI_Allgather(&piece_, sizeof(Piece), MPI_BYTE, pieces.data(), sizeof(Piece), MPI_BYTE, comm));
  for (int r = 0; r < ranks; r++)
    PetscCallCXX(there.push_back(reinterpret_cast<std::uint64_t *>(peers_->at(pieces[static_cast<size_t>(r)], r))));
  side_.here    = there[static_cast<size_t>(rank)];
  side_.done    = side_.here + 2 * ReduceSide::WORDS;
  side_.timeout = static_cast<unsigned long long>(timeout * 1e9);
  side_.rank    = rank;
  side_.ranks   = ranks;
  if (peers_->space() == Space::Device) {
    PetscCall(report_.Reserve(sizeof(std::uint64_t)));
    side_.report  = static_cast<std::uint64_t *>(report_.data());
    *side_.report = 0;
    side_.lost    = side_.here + 2 * ReduceSide::WORDS + 1;
  }
  PetscCall(there_.Take(std::move(there), peers_->space()));
  side_.there = there_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Reducer::Check() const
{
  PetscFunctionBegin;
  const std::uint64_t lost = side_.report ? *static_cast<volatile std::uint64_t *>(side_.report) : lost_;
  PetscCheck(!lost, PETSC_COMM_SELF, PETSC_ERR_SYS,
             "Rank %d has not taken part in a reduction within %g seconds: it is lost, or busy for longer than "
             "-sparsegpu_peer_timeout allows",
             static_cast<int>(lost - 1), timeout_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Reducer::Sum(int n, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCheck(n >= 0 && n <= ReduceSide::VALUES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A reduction of %d values: 0 to %d are allowed", n, ReduceSide::VALUES);
  if (!n) PetscFunctionReturn(PETSC_SUCCESS); // a number without a message would let a rank run ahead
  PetscCall(Check());
  if (peers_->space() == Space::Host) {
    PetscCall(Reduce_Host(side_, n, values, peers_->comm(), &lost_));
    PetscCall(Check());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(Reduce_CUDA(side_, n, values, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "several processes read and write the words");

std::atomic<std::uint64_t> &Word(std::uint64_t *word)
{
  return *reinterpret_cast<std::atomic<std::uint64_t> *>(word);
}

/// Waits until *word is of reduction k; MPI goes on meanwhile, as in exchanges.
PetscErrorCode Await(std::uint64_t *word, Exchange k, unsigned long long timeout, MPI_Comm comm, bool *came)
{
  constexpr int SPINS = 256; // of a few nanoseconds, before the processor is offered to others
  const auto    begin = std::chrono::steady_clock::now();
  int           there;

  PetscFunctionBegin;
  *came = true;
  while (true) {
    for (int spin = 0; spin < SPINS; spin++)
      if (IsOf(k, Word(word).load(std::memory_order_acquire))) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE));
    if (std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(timeout)) break;
    std::this_thread::yield();
  }
  *came = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Reduce_Host(const ReduceSide &side, int n, Scalar *values, MPI_Comm comm, std::uint64_t *lost)
{
  std::uint32_t  parts[ReduceSide::PARTS];
  const Exchange k = ++*side.done;

  PetscFunctionBegin;
  for (int r = 0; r < side.ranks; r++)
    for (int v = 0; v < n; v++) {
      std::memcpy(parts, values + v, sizeof(parts));
      for (int p = 0; p < ReduceSide::PARTS; p++) // release: what k + 1 overwrites there has been read here
        Word(side.there[r] + WordOf(k, side.rank, v, p)).store(Packed(k, parts[p]), std::memory_order_release);
    }
  for (int v = 0; v < n; v++) {
    for (int r = 0; r < side.ranks; r++) {
      Scalar value(0);
      for (int p = 0; p < ReduceSide::PARTS; p++) {
        std::uint64_t *const word = side.here + WordOf(k, r, v, p);
        bool                 came;
        PetscCall(Await(word, k, side.timeout, comm, &came));
        if (!came) {
          *lost = static_cast<std::uint64_t>(r) + 1;
          PetscFunctionReturn(PETSC_SUCCESS);
        }
        parts[p] = static_cast<std::uint32_t>(Word(word).load(std::memory_order_relaxed));
      }
      std::memcpy(static_cast<void *>(&value), parts, sizeof(parts));
      values[v] = r ? values[v] + value : value;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
