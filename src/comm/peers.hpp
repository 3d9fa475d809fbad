/// The ranks of a communicator that write to each other's memory, on the host or from GPU to GPU, and that memory: a
/// few large segments, from which channels take pieces.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include "comm/segment.hpp"

namespace sparsegpu::comm
{

/// -sparsegpu_peer: exchanges through peer memory.
enum class Use {
  Auto, ///< from GPU to GPU, where each rank has its own
  Yes,  ///< wherever it works: also on the host, and for ranks that share a GPU
  No
};
/// Reads -sparsegpu_peer and -sparsegpu_peer_timeout. Errors: PETSC_ERR_ARG_UNKNOWN_TYPE or PETSC_ERR_ARG_OUTOFRANGE,
/// naming the value met and those allowed.
PetscErrorCode ReadUse(PetscOptions options, Use *use, double *timeout);

/// A piece of one rank's memory.
struct Piece {
  int    slot    = -1; ///< the same on all ranks, among the pieces in use
  int    segment = -1; ///< the same on all ranks
  size_t offset  = 0;  ///< bytes, in this rank's part
  size_t bytes   = 0;
};

class Peers
{
public:
  static constexpr size_t ALIGNMENT = 256; ///< bytes, of pieces

  /// The peers of `comm` in `space`; null if they are not to be used or there are none, *why is the reason. The same on
  /// all ranks. Found out once a communicator, then remembered with it. Collective.
  static PetscErrorCode Find(MPI_Comm comm, Space space, Use use, std::shared_ptr<Peers> *peers, std::string *why);
  ~Peers();

  /// A piece of at least `bytes` bytes, which may differ between ranks, for each of them; on all ranks or on none
  /// (*why, the same on all). Collective; ends synchronised.
  PetscErrorCode Take(size_t bytes, Piece *piece, std::string *why);
  /// This rank needs its piece no longer, nor those of the same slot of other ranks, after its work so far. The memory
  /// is used again when that holds for all ranks. Not collective.
  void GiveBack(const Piece &piece);
  /// Where `piece` of `rank` is, at an address of this process; null after Close().
  char *at(const Piece &piece, int rank) const;

  MPI_Comm comm() const { return comm_; }
  Space    space() const { return space_; }
  /// Collective. Waits for the other ranks a few seconds at most: where one is lost, memory lives as long as the
  /// process.
  PetscErrorCode Close();

private:
  static constexpr int WORDS = 16; ///< of 64 slots each
  struct Part {
    std::unique_ptr<Segment> segment;
    size_t                   bytes = 0;
    std::map<size_t, size_t> free; ///< offset, bytes
  };

  PetscErrorCode Create(MPI_Comm comm, Space space, std::string *why);
  PetscErrorCode CheckReach(std::string *why);
  PetscErrorCode Grow(size_t bytes, std::string *why);
  PetscErrorCode FreeSlots(int *slot);
  bool           Allocate(size_t bytes, Piece *piece);
  void           Release(const Piece &piece);

  MPI_Comm                         comm_  = MPI_COMM_NULL; ///< our own
  Space                            space_ = Space::Host;
  std::vector<Part>                parts_;
  std::array<std::uint64_t, WORDS> used_ = {}; ///< slots that this rank has not given back
  std::map<int, Piece>             returned_;  ///< by slot: given back here, maybe not everywhere
};

/// Closes all peers, at PetscFinalize(). Collective.
PetscErrorCode Finalize();

} // namespace sparsegpu::comm
