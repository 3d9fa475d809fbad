/// Entries of arrays that ranks send each other again and again, through memory of their peers: see protocol.hpp.
#pragma once

#include <petscis.h>
#include "comm/exchange.hpp"
#include "comm/peers.hpp"
#include "device/buffer.hpp"
#include "device/pinned.hpp"

namespace sparsegpu::comm
{

/// What a rank sends and receives in each exchange.
struct Graph {
  std::vector<PetscInt> send_start;    ///< [ranks + 1] into `send`, by receiver
  std::vector<PetscInt> receive_start; ///< [ranks + 1] into the array received, by sender
  std::vector<int>      send;          ///< [send_start[ranks]] entries of the array to be sent; empty: as they lie

  bool     gathers() const { return !send.empty(); }
  PetscInt sends() const { return send_start.back(); }
  PetscInt receives() const { return receive_start.back(); }
};

/// Ghosts to their owners' entries: ghost g is global column columns[g]. Columns ascend, so that ghosts of one owner
/// are neighbours and lie in the order in which they come. *why, the same on all ranks: they do not, or there are too
/// many. Collective on the layout's communicator.
PetscErrorCode GraphOfGhosts(PetscLayout layout, PetscInt count, const PetscInt columns[], Graph *graph,
                             std::string *why);
/// The graph whose messages go the other way: what was received is sent as it lies.
Graph Reversed(const Graph &graph);

class Channel
{
public:
  Channel()                           = default;
  Channel(const Channel &)            = delete;
  Channel &operator=(const Channel &) = delete;
  ~Channel();

  /// On all ranks or on none: *why, the same on all, is empty or the reason. A rank that another one waits for longer
  /// than `timeout` seconds counts as lost. Collective.
  PetscErrorCode Create(std::shared_ptr<Peers> peers, const Graph &graph, double timeout, std::string *why);
  bool           made() const { return peers_ != nullptr; }
  const std::shared_ptr<Peers> &peers() const { return peers_; }
  double                        timeout() const { return timeout_; } ///< seconds
  PetscInt                      receives() const { return static_cast<PetscInt>(side_.receives); }
  PetscInt                      sends() const { return static_cast<PetscInt>(side_.sends); }
  int                           neighbours() const { return side_.count; }

  /// Sends entries of `from`, which has been written and must stay so until the work on `stream` is done. Errors:
  /// PETSC_ERR_SYS, naming the rank that did not come in time, in this exchange or, on a device, in one before.
  PetscErrorCode Begin(const Scalar *from, Stream stream);
  /// (*received) [receives()], in the order of the graph, valid for work on `stream` until the next Begin(). On a
  /// device the host does not wait; where a rank has not come in time, the entries are NaN and the next call returns
  /// the error.
  PetscErrorCode End(Stream stream, const Scalar **received);
  /// The next exchange, on a device, for kernels that begin and end it. Errors: as Begin().
  PetscErrorCode Next(DeviceExchange *exchange);
  /// The same once more.
  DeviceExchange Current() const;
  /// Errors: PETSC_ERR_SYS, as Begin(), if a rank has been lost on the device so far.
  PetscErrorCode Check();
  /// to[send[e]] += received[e] for all entries e of `received`, which came through the Reversed() graph of this
  /// channel's. By sender: bitwise reproducible.
  PetscErrorCode AddReceived(const Scalar *received, Scalar *to, Stream stream) const;
  /// Not collective.
  void Free();

private:
  PetscErrorCode Connect(const Graph &graph, std::vector<Neighbour> *neighbours, std::string *why);
  PetscErrorCode Place(const Graph &graph, std::vector<Neighbour> &&neighbours);
  PetscErrorCode OrderSums(const Graph &graph);
  PetscErrorCode Lost(std::uint64_t lost);

  std::shared_ptr<Peers> peers_;
  Piece                  piece_;
  double                 timeout_  = 0; ///< seconds
  Exchange               exchange_ = 0;
  Side                   side_     = {};
  Array<Neighbour>       neighbours_; ///< [side_.count]
  Array<int>             send_;       ///< [side_.sends], if the entries are gathered
  std::vector<int>       ranks_;      ///< [side_.count] of the neighbours, on the host
  // Sums of what other ranks send back, on a device: place p is entry target_[p] of an array, to which the entries
  // source_[start_[p] ... start_[p + 1]) are added in this order.
  Array<int> target_, start_, source_;
  // On a device: a report for the host, and what the blocks of a launch share.
  PinnedMemory report_; ///< one std::uint64_t, see Report()
  DeviceMemory state_;  ///< one State
};

// One function a backend for each step. *lost: Report() of the rank that did not come in time, or 0.
PetscErrorCode Begin_Host(const Side &side, const Scalar *from, Exchange k, double timeout, MPI_Comm comm,
                          std::uint64_t *lost);
PetscErrorCode End_Host(const Side &side, Exchange k, double timeout, MPI_Comm comm, std::uint64_t *lost);
PetscErrorCode AddReceived_CUDA(int places, const int *target, const int *start, const int *source,
                                const Scalar *received, Scalar *to, Stream stream);

} // namespace sparsegpu::comm
