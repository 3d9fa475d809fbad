/// Entries that a rank sends to others in pieces, one for each rank, and how the receiver orders them.
#pragma once

#include <petscsf.h>
#include <memory>
#include <vector>
#include "comm/channel.hpp"
#include "device/pinned.hpp"
#include "device/scalar.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

/// So many entries go to `rank`, or come from it: behind those of the piece before.
struct Piece {
  PetscMPIInt rank;
  PetscInt    count;
};

/// Pieces that go from rank to rank as often as their values change, through memory of peers where that pays, else by
/// MPI. Unlike a star forest of entries it knows of no single one: its set-up does not take time for each.
class PieceExchange
{
public:
  PieceExchange()                                 = default;
  PieceExchange(const PieceExchange &)            = delete;
  PieceExchange &operator=(const PieceExchange &) = delete;
  ~PieceExchange();

  /// `sent`: at most one for each other rank. *receives: how many entries come. Those of the senders lie by rank,
  /// ascending, so that what is summed in their order repeats bit for bit. *fits is false, on all ranks, where that is
  /// more than PetscInt counts on one; nothing is exchanged then. Collective.
  PetscErrorCode SetUp(MPI_Comm comm, const std::vector<Piece> &sent, PetscInt *receives, bool *fits);
  /// Values may travel through memory of peers, as -sparsegpu_peer in these options says. On all ranks or on none.
  /// Errors: comm::ReadUse()'s.
  PetscErrorCode LetPeersServe(PetscOptions options);
  /// Has it been set up?
  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  /// Memory for values in `space`. Errors: PETSC_ERR_MEM. Not collective.
  PetscErrorCode Reserve(Space space);
  /// to [receives] = what the senders have, `from`: what this one sends. Both in `space`, which each rank chooses. From
  /// GPU to GPU without a wait of the host, where ranks reach each other's memory and all do so when that is decided;
  /// else by pinned memory of the host, whatever MPI. Collective. Errors: PETSC_ERR_SYS, as comm::Channel's.
  PetscErrorCode Exchange(Space space, const Scalar *from, Scalar *to);
  /// The same of integers on the host.
  PetscErrorCode Exchange(const PetscInt *from, PetscInt *to);

private:
  template <class T> PetscErrorCode Pass(MPI_Datatype type, const T *from, T *to) const;
  comm::Graph                       GraphOfPieces(size_t ranks) const;
  PetscErrorCode                    Decide(Space space);
  PetscErrorCode                    ExchangeByPeers(Space space, const Scalar *from, Scalar *to);

  /// Pieces of so many entries on some rank travel by peers at once, smaller ones when they do so again: to make a
  /// channel takes as long as to pass these by MPI a few times.
  static constexpr PetscInt LARGE = 16384;

  MPI_Comm                      comm_ = MPI_COMM_NULL; ///< PETSc's own duplicate
  PetscMPIInt                   tag_  = 0;
  std::vector<Piece>            sent_, received_; ///< none is empty
  PetscInt                      sends_ = 0, receives_ = 0;
  std::shared_ptr<PinnedMemory> host_; ///< [sends_ + receives_], of all exchanges: each ends before the next
  bool                          due_ = false, decided_ = false; ///< due_: the next exchange decides
  comm::Use                     use_     = comm::Use::No;
  double                        timeout_ = 0; ///< seconds
  comm::Channel                 channel_;     ///< made: values travel by it
  Array<Scalar>                 staged_;      ///< [sends_] where the channel is on the device: values of the host
};

/// The pieces that the other ranks' leaves of `forest` are: `roots` are those that some rank has a leaf of, of each
/// rank in the order of its leaves. *by_rank: do this rank's leaves lie by rank of their roots, as what it receives
/// does? `forest` has been set up. Not collective.
PetscErrorCode AskedPieces(PetscSF forest, std::vector<Piece> *pieces, std::vector<PetscInt> *roots, bool *by_rank);
/// The roots, ascending, that another rank has a leaf of; `forest` has been set up. Not collective.
PetscErrorCode AskedRoots(PetscSF forest, std::vector<PetscInt> *roots);
/// Whether `mine` holds on all ranks.
PetscErrorCode AllAgree(MPI_Comm comm, bool mine, bool *all);

} // namespace sparsegpu::face
