/// Pieces are taken collectively and given back by each rank when it is done. Which ones all ranks have given back is
/// asked when the next one is taken: so no rank waits for another one at the end of an object.
#include "comm/peers.hpp"
#include <algorithm>
#include <chrono>
#include <thread>
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

Peers::~Peers()
{
  PetscCallAbort(PETSC_COMM_SELF, Close());
}

/// Every rank writes a word to every other one, and finds those of the others.
PetscErrorCode Peers::CheckReach(std::string *why)
{
  PetscMPIInt                rank, size;
  std::vector<std::uint64_t> found;
  Stream                     stream = nullptr;
  Piece                      piece;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  PetscCall(Take(static_cast<size_t>(size) * sizeof(std::uint64_t), &piece, why));
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(found.assign(static_cast<size_t>(size), 0));
  if (space_ == Space::Device) PetscCall(DeviceStream(&stream));
  std::vector<Piece> theirs(static_cast<size_t>(size));
  PetscCallMPI(MPI_Allgather(&piece, sizeof(piece), MPI_BYTE, theirs.data(), sizeof(piece), MPI_BYTE, comm_));
  for (int r = 0; r < size; r++) {
    const std::uint64_t word = static_cast<std::uint64_t>(rank) + 1;
    char *const         to   = at(theirs[static_cast<size_t>(r)], r) + static_cast<size_t>(rank) * sizeof(word);
    if (space_ == Space::Device)
      PetscCall(DeviceCopyIn(to, &word, sizeof(word), stream));
    else
      PetscCall(PetscMemcpy(to, &word, sizeof(word)));
    if (space_ == Space::Device) PetscCall(DeviceSynchronize(stream));
  }
  PetscCallMPI(MPI_Barrier(comm_));
  if (space_ == Space::Device)
    PetscCall(DeviceCopyOut(found.data(), at(piece, rank), found.size() * sizeof(found[0]), stream));
  else
    PetscCall(PetscMemcpy(found.data(), at(piece, rank), found.size() * sizeof(found[0])));
  for (size_t r = 0; r < found.size(); r++)
    if (found[r] != r + 1) PetscCallCXX(*why = "what rank " + std::to_string(r) + " writes does not arrive");
  PetscCall(AgreeOnReason(comm_, why));
  GiveBack(piece);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::Create(MPI_Comm comm, Space space, std::string *why)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_dup(comm, &comm_));
  space_ = space;
  PetscCall(CheckReach(why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::Grow(size_t bytes, std::string *why)
{
  // A segment on a device is a mapping in each process: a few large ones. Pages of the host count once written to.
  constexpr size_t LEAST = size_t(2) << 20;
  Part             part;

  PetscFunctionBegin;
  part.bytes = std::max(LEAST, (bytes + LEAST - 1) / LEAST * LEAST);
  for (const Part &other : parts_) part.bytes = std::max(part.bytes, other.bytes);
  if (space_ == Space::Device)
    PetscCall(NewDeviceSegment(comm_, part.bytes, &part.segment, why));
  else
    PetscCall(NewWindow(comm_, part.bytes, &part.segment, why));
  if (!part.segment) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(part.free[0] = part.bytes);
  PetscCallCXX(parts_.push_back(std::move(part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Peers::Allocate(size_t bytes, Piece *piece)
{
  for (size_t s = 0; s < parts_.size(); s++)
    for (auto block = parts_[s].free.begin(); block != parts_[s].free.end(); ++block) {
      if (block->second < bytes) continue;
      piece->segment    = static_cast<int>(s);
      piece->offset     = block->first;
      piece->bytes      = bytes;
      const size_t left = block->second - bytes;
      parts_[s].free.erase(block);
      if (left) parts_[s].free[piece->offset + bytes] = left;
      return true;
    }
  return false;
}

/// Neighbouring free blocks become one.
void Peers::Release(const Piece &piece)
{
  std::map<size_t, size_t> &free  = parts_[static_cast<size_t>(piece.segment)].free;
  const auto                block = free.emplace(piece.offset, piece.bytes).first;
  const auto                next  = std::next(block);
  if (next != free.end() && block->first + block->second == next->first) {
    block->second += next->second;
    free.erase(next);
  }
  if (block == free.begin()) return;
  const auto before = std::prev(block);
  if (before->first + before->second != block->first) return;
  before->second += block->second;
  free.erase(block);
}

/// Frees what all ranks have given back; *slot: the lowest one that is free on all of them, -1 if there is none.
PetscErrorCode Peers::FreeSlots(int *slot)
{
  std::array<std::uint64_t, WORDS> all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(used_.data(), all.data(), WORDS, MPI_UINT64_T, MPI_BOR, comm_));
  const auto free = [&](int s) { return !(all[static_cast<size_t>(s / 64)] >> (s % 64) & 1); };
  for (auto piece = returned_.begin(); piece != returned_.end();) {
    if (!free(piece->first)) {
      ++piece;
      continue;
    }
    PetscCallCXX(Release(piece->second));
    piece = returned_.erase(piece);
  }
  *slot = -1;
  for (int s = 0; s < 64 * WORDS && *slot < 0; s++)
    if (free(s)) *slot = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::Take(size_t bytes, Piece *piece, std::string *why)
{
  std::uint64_t lacking, most;
  PetscMPIInt   rank;
  int           slot;

  PetscFunctionBegin;
  bytes = std::max(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (space_ == Space::Device) { // work on what this rank has given back is over then
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceSynchronize(stream));
  }
  PetscCall(FreeSlots(&slot));
  if (slot < 0) {
    PetscCallCXX(*why = "all " + std::to_string(64 * WORDS) + " channels are in use");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool had;
  PetscCallCXX(had = Allocate(bytes, piece));
  lacking = had ? 0 : bytes;
  PetscCallMPI(MPI_Allreduce(&lacking, &most, 1, MPI_UINT64_T, MPI_MAX, comm_));
  if (most) PetscCall(Grow(most, why));
  if (!why->empty()) {
    if (had) PetscCallCXX(Release(*piece));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!had) PetscCallCXX(Allocate(bytes, piece));
  piece->slot = slot;
  used_[static_cast<size_t>(slot / 64)] |= std::uint64_t(1) << (slot % 64);
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  if (space_ == Space::Device)
    PetscCall(ClearDevice(at(*piece, rank), bytes));
  else
    PetscCall(PetscMemzero(at(*piece, rank), bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Peers::GiveBack(const Piece &piece)
{
  if (piece.slot < 0) return;
  used_[static_cast<size_t>(piece.slot / 64)] &= ~(std::uint64_t(1) << (piece.slot % 64));
  returned_[piece.slot] = piece;
}

char *Peers::at(const Piece &piece, int rank) const
{
  if (static_cast<size_t>(piece.segment) >= parts_.size()) return nullptr;
  return parts_[static_cast<size_t>(piece.segment)].segment->at(rank) + piece.offset;
}

/// A barrier that ends after `seconds`, too; *all: the others have come.
static PetscErrorCode Gather(MPI_Comm comm, double seconds, bool *all)
{
  const auto  begin = std::chrono::steady_clock::now();
  MPI_Request request;
  int         done = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Ibarrier(comm, &request));
  while (!done) {
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done || std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    std::this_thread::yield();
  }
  *all = done != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::Close()
{
  constexpr double PATIENCE = 10; // seconds: ranks come here at about the same time, or never
  bool             all      = false;

  PetscFunctionBegin;
  if (comm_ == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  if (space_ == Space::Device) PetscCall(SettleDevice());
  for (Part &part : parts_) PetscCall(part.segment->Close());
  PetscCall(Gather(comm_, PATIENCE, &all));
  for (Part &part : parts_)
    if (all) PetscCall(part.segment->Free());
  parts_.clear();
  if (all)
    PetscCallMPI(MPI_Comm_free(&comm_));
  else
    PetscCall(PetscInfo(nullptr, "Ranks are lost: peer memory is left to the end of the process\n"));
  comm_ = MPI_COMM_NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
