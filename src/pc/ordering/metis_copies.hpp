/// METIS in several threads. METIS 5.1 draws its random numbers from rand(), whose state a process has once: threads
/// that shared it would give another order each time. Where the C library can load a library again beside the first,
/// with all that it depends on (dlmopen()), each thread has a METIS of its own.
#pragma once

#include <functional>
#include <metis.h>

namespace sparsegpu::ordering
{

/// The functions of one METIS.
struct Metis {
  decltype(&METIS_NodeND)                 order;
  decltype(&METIS_ComputeVertexSeparator) separate;
};

/// Calls `serve` in this thread and, at the same time, in up to `threads` - 1 others, as many as can be had, and
/// returns when all are back. `serve` does not throw, and a call of it that comes late finds nothing to do. Calls of
/// this exclude each other. The numbers of rand() that the program draws are the same as without it, unless another of
/// its threads draws some meanwhile.
void ServeByMetis(int threads, const std::function<void(const Metis &)> &serve);

} // namespace sparsegpu::ordering
