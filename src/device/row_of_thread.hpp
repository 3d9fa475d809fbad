/// Which row a thread has where `width` neighbouring threads of a block of `threads` share one.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu
{

/// At most a block's rows beyond the last: rows times threads, which PetscInt may not hold, is not looked at.
template <int threads, int width> SPARSEGPU_HD PetscInt row_of_thread(PetscInt block, unsigned thread)
{
  static_assert(threads % width == 0, "a block has whole rows");
  return block * (threads / width) + static_cast<PetscInt>(thread / width);
}

} // namespace sparsegpu
