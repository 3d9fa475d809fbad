/// Memory of this process.
#pragma once

#include <cstdlib>
#if defined(__GLIBC__)
  #include <malloc.h>
#endif

namespace testing
{

/// In use, as the allocator has it.
inline double InUse()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
#else
  return 0;
#endif
}

} // namespace testing
