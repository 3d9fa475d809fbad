/// Threads that pay.
#pragma once

#include <algorithm>
#include <thread>
#if defined(__linux__)
  #include <sched.h>
#endif

namespace sparsegpu::ordering
{

/// Cores that this thread may run on: those that a rank is bound to, where it is.
inline int Cores()
{
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace sparsegpu::ordering
