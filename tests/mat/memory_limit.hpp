/// For tests of what happens where memory ends.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace testing
{

/// As long as this lives the process can take no more than `bytes` more address space.
class MemoryLimit
{
public:
  explicit MemoryLimit(rlim_t bytes)
  {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    if (pages == 0 || getrlimit(RLIMIT_AS, &before_)) return;
    rlimit less   = before_;
    less.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    works_        = !setrlimit(RLIMIT_AS, &less);
  }
  MemoryLimit(const MemoryLimit &)            = delete;
  MemoryLimit &operator=(const MemoryLimit &) = delete;
  ~MemoryLimit()
  {
    if (works_) (void)setrlimit(RLIMIT_AS, &before_);
  }
  bool works() const { return works_; }

private:
  rlimit before_;
  bool   works_ = false;
};

} // namespace testing
