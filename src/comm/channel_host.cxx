/// The steps of the protocol between ranks of one host, by loops of the host.
#include <atomic>
#include <chrono>
#include <thread>
#include "comm/channel.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::comm
{

namespace
{
static_assert(std::atomic<Exchange>::is_always_lock_free && sizeof(std::atomic<Exchange>) == sizeof(Exchange),
              "flags are words that several processes read and write");

std::atomic<Exchange> &Flag(Exchange *flag)
{
  return *reinterpret_cast<std::atomic<Exchange> *>(flag);
}

/// Waits until neighbour n's flag has reached `least`; else *lost. MPI goes on meanwhile: the other rank may need a
/// message of this one before it comes here.
PetscErrorCode Await(const Side &side, int n, Exchange least, Exchange k, double timeout, MPI_Comm comm,
                     std::uint64_t *lost)
{
  constexpr int SPINS = 256; // of a few nanoseconds, before the processor is offered to others
  Exchange     *flag  = side.flags + static_cast<std::ptrdiff_t>(n) * Side::SPACING;
  const auto    begin = std::chrono::steady_clock::now();
  int           there;

  PetscFunctionBegin;
  while (true) {
    for (int spin = 0; spin < SPINS; spin++)
      if (Flag(flag).load(std::memory_order_acquire) >= least) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE));
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > timeout) break;
    std::this_thread::yield();
  }
  *lost = Report(n, k);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Begin_Host(const Side &side, const Scalar *from, Exchange k, double timeout, MPI_Comm comm,
                          std::uint64_t *lost)
{
  PetscFunctionBegin;
  for (int n = 0; n < side.count && !*lost; n++) {
    const Neighbour &neighbour = side.neighbours[n];
    if (neighbour.send_begin == neighbour.send_end) continue;
    PetscCall(Await(side, n, BeforeWriting(k), k, timeout, comm, lost));
    if (*lost) PetscFunctionReturn(PETSC_SUCCESS);
    Scalar *const to = neighbour.buffer[HalfOf(k)];
    for (std::int64_t e = neighbour.send_begin; e < neighbour.send_end; e++)
      to[e - neighbour.send_begin] = from[side.send ? side.send[e] : e];
  }
  for (int n = 0; n < side.count; n++) Flag(side.neighbours[n].flag).store(k, std::memory_order_release);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode End_Host(const Side &side, Exchange k, double timeout, MPI_Comm comm, std::uint64_t *lost)
{
  PetscFunctionBegin;
  for (int n = 0; n < side.count && !*lost; n++)
    if (side.neighbours[n].receives) PetscCall(Await(side, n, BeforeReading(k), k, timeout, comm, lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::comm
