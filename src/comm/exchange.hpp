/// One exchange of a channel between GPUs, as kernels see it that do its steps beside their own work.
#pragma once

#include "comm/protocol.hpp"
#include "device/device.hpp"

namespace sparsegpu::comm
{

/// The word that tells of a lost rank: never 0.
SPARSEGPU_HD std::uint64_t Report(int neighbour, Exchange exchange)
{
  return (exchange << 20) + static_cast<std::uint64_t>(neighbour) + 1;
}
SPARSEGPU_HD int NeighbourOf(std::uint64_t report)
{
  return static_cast<int>(report & 0xfffff) - 1;
}

/// What a channel's kernels keep between and within launches.
struct State {
  std::uint64_t lost; ///< Report(); 0: none
  unsigned      done; ///< blocks that have sent their entries
};

/// Solvers launch products ahead. What turns out not to be wanted any more, on all ranks alike, is an exchange without
/// entries: so all ranks count their exchanges alike, as long as they launch the same ones.
struct DeviceExchange {
  Side               side;
  Exchange           k;
  unsigned long long timeout;              ///< nanoseconds
  State             *state;                ///< [1]
  std::uint64_t     *report;               ///< [1] pinned: the same loss for the host
  const int         *stopped_at = nullptr; ///< [1] no entries are wanted if it is below `number`; null: they are
  int                number     = 0;
  bool               complete   = false; ///< the product that begins it takes the entries received, too
};

/// The steps as launches of their own. Asynchronous.
PetscErrorCode BeginExchange_CUDA(const DeviceExchange &exchange, const Scalar *from, Stream stream);
/// [side.receives] the entries are in side.received[HalfOf(k)] then: NaN where a rank is lost.
PetscErrorCode EndExchange_CUDA(const DeviceExchange &exchange, Stream stream);

} // namespace sparsegpu::comm
