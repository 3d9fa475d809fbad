/// Linux tells which processors a process may use and which pages it has touched; elsewhere one thread copies and pages
/// are as they come.
#include "device/host_memory.hpp"
#include <algorithm>
#if defined(__linux__)
  #include <sched.h>
  #include <sys/mman.h>
  #include <unistd.h>
#endif

namespace sparsegpu
{

#if defined(__linux__)
namespace
{
constexpr size_t HUGE_PAGE = 2 << 20; ///< bytes, of x86 and of most others; a hint alone where they are larger

/// The process has never touched the page of the ordinary size at `p`, or not since it was swapped out.
bool Untouched(char *p)
{
  const auto    size  = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char state = 1;
  const auto    page  = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(p) & ~(size - 1));
  return !mincore(page, static_cast<size_t>(size), &state) && !(state & 1);
}
} // namespace

int CopyThreads()
{
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof(mine), &mine)) return 1; // more processors than the set has room for
  return std::max(1, std::min(CPU_COUNT(&mine), MOST_COPY_THREADS));
}

void AdviseHugePages(void *p, size_t bytes)
{
  const auto begin = (reinterpret_cast<std::uintptr_t>(p) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  const auto end   = (reinterpret_cast<std::uintptr_t>(p) + bytes) & ~(HUGE_PAGE - 1);
  if (begin >= end || !Untouched(static_cast<char *>(p) + bytes / 2)) return;
  (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE); // an advice: refused where there are none
}
#else
int CopyThreads()
{
  return 1;
}

void AdviseHugePages(void *, size_t) {}
#endif

} // namespace sparsegpu
