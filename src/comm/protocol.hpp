/// How ranks that reach each other's memory exchange arrays again and again, without MPI and without a barrier.
///
/// Exchange k = 1, 2, ... of a rank, whose neighbours are those that it sends to or receives from:
///   begin  waits until each rank that it sends to is in exchange k - 1; writes its entries to half k % 2 of their
///          receive buffers; then tells all its neighbours that it is in exchange k, by a flag in their memory
///   end    waits until each rank that it receives from is in exchange k, then reads half k % 2 of its own buffer
/// A rank is in exchange k only once it has read what came in exchange k - 1: so one flag tells that data is there and
/// that the half before may be overwritten. docs/communication.md has the argument, tests/comm/model.cxx checks it.
#pragma once

#include <cstdint>
#include "device/scalar.hpp"

namespace sparsegpu::comm
{

/// The number of an exchange; flags hold the one that a rank is in. A rank is in exchange 0 from the start.
using Exchange = std::uint64_t;

SPARSEGPU_HD int HalfOf(Exchange k)
{
  return static_cast<int>(k & 1);
}
/// What the flag of a rank must have reached before exchange k may write to that rank's buffer: it has read half k % 2,
/// which exchange k - 2 filled.
SPARSEGPU_HD Exchange BeforeWriting(Exchange k)
{
  return k - 1;
}
/// What the flag of a rank must have reached before its entries of exchange k may be read.
SPARSEGPU_HD Exchange BeforeReading(Exchange k)
{
  return k;
}

/// A rank that this one sends to or receives from. Addresses are of this process, the memory is the neighbour's.
struct Neighbour {
  Exchange    *flag;       ///< which this rank writes
  Scalar      *buffer[2];  ///< [half], [send_end - send_begin] the part of its receive buffer that this rank fills
  std::int64_t send_begin; ///< of the entries that this rank sends, in Side::send
  std::int64_t send_end;
  std::int64_t receives; ///< entries that this rank receives from it
  int          rank;
};

/// One rank's side of a channel, where its steps run: on the host or on the device.
struct Side {
  static constexpr int SPACING = 8; ///< flags have a cache line each: 64 bytes

  const Neighbour *neighbours;  ///< [count] by rank
  const int       *send;        ///< [sends] entries of the array to be sent; null: they are sent as they lie
  Exchange        *flags;       ///< [count * SPACING] flag n * SPACING is written by neighbour n
  Scalar          *received[2]; ///< [half], [receives]
  std::int64_t     sends, receives;
  int              count;
};

} // namespace sparsegpu::comm
