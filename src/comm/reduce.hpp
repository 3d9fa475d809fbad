/// Sums of a few scalars over all ranks of a host, which each rank adds up itself in the order of the ranks: the same
/// bits on all of them, and in every run. A rank writes its values to all others; each word has half of it for data and
/// half for the number of the reduction, so that no flag and no fence is needed ("LL" of NCCL). Reductions k and k + 1
/// use different halves of the memory: who writes those of k + 1 has got those of k from all others, each of which had
/// read what came in k - 1 before it sent them. So what k + 1 overwrites has been read. This needs a value in each. The
/// number is counted where reductions run: solvers launch some that are skipped in the end, by all ranks alike.
#pragma once

#include "comm/peers.hpp"
#include "comm/protocol.hpp"
#include "device/buffer.hpp"
#include "device/pinned.hpp"

namespace sparsegpu::comm
{

/// One rank's side, where reductions run: on the host or on the device.
struct ReduceSide {
  static constexpr int VALUES = 32, RANKS = 16;        ///< at most
  static constexpr int PARTS = sizeof(Scalar) / 4;     ///< words of a value
  static constexpr int WORDS = RANKS * VALUES * PARTS; ///< of a half

  std::uint64_t *const *there;   ///< [ranks] the memory of each rank, at addresses of this process: 2 * WORDS words
  std::uint64_t        *here;    ///< this rank's
  Exchange             *done;    ///< [1] the last reduction of this rank
  std::uint64_t        *lost;    ///< on a device: rank + 1 of a rank that is lost, or 0; for kernels
  std::uint64_t        *report;  ///< on a device: the same for the host, in pinned memory
  unsigned long long    timeout; ///< nanoseconds
  int                   rank, ranks;
};

/// Word `part` of value `v` of rank `sender` in reduction k.
SPARSEGPU_HD int WordOf(Exchange k, int sender, int v, int part)
{
  return ((HalfOf(k) * ReduceSide::RANKS + sender) * ReduceSide::VALUES + v) * ReduceSide::PARTS + part;
}
SPARSEGPU_HD std::uint64_t Packed(Exchange k, std::uint32_t data)
{
  return k << 32 | data;
}
SPARSEGPU_HD bool IsOf(Exchange k, std::uint64_t word)
{
  return static_cast<std::uint32_t>(word >> 32) == static_cast<std::uint32_t>(k);
}

class Reducer
{
public:
  Reducer()                           = default;
  Reducer(const Reducer &)            = delete;
  Reducer &operator=(const Reducer &) = delete;
  ~Reducer() { Free(); }

  /// On all ranks or on none (*why, the same on all). Collective.
  PetscErrorCode Create(std::shared_ptr<Peers> peers, double timeout, std::string *why);
  /// values[v] becomes the sum over all ranks, v < n <= ReduceSide::VALUES; in the peers' space, on a device without
  /// waiting. Errors: PETSC_ERR_ARG_OUTOFRANGE, naming n; PETSC_ERR_SYS if a rank did not come in time, on a device in
  /// a reduction before: its sums are NaN. Collective.
  PetscErrorCode Sum(int n, Scalar *values, Stream stream);
  /// What kernels need that call all_reduce() of reduce.cuh, as often on all ranks.
  const ReduceSide &side() const { return side_; }
  bool              made() const { return peers_ != nullptr; }
  /// Errors: as Sum(), if a rank has been lost so far.
  PetscErrorCode Check() const;
  void           Free();

private:
  std::shared_ptr<Peers> peers_;
  Piece                  piece_;
  ReduceSide             side_    = {};
  double                 timeout_ = 0; ///< seconds
  std::uint64_t          lost_    = 0; ///< on the host: rank + 1
  Array<std::uint64_t *> there_;
  PinnedMemory           report_; ///< one std::uint64_t on a device: rank + 1 of the rank that is lost, or 0
};

/// The steps of one reduction. *lost: rank + 1 of the rank that did not come in time.
PetscErrorCode Reduce_Host(const ReduceSide &side, int n, Scalar *values, MPI_Comm comm, std::uint64_t *lost);
PetscErrorCode Reduce_CUDA(const ReduceSide &side, int n, Scalar *values, Stream stream);

} // namespace sparsegpu::comm
