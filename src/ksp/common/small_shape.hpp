/// How the rows of a small system are divided among the thread blocks of a cooperative launch.
#pragma once

#include <petscsys.h>

namespace sparsegpu::ksp
{

struct SmallShape {
  PetscInt blocks, rows; ///< rows of a block
  int      lanes;        ///< threads that share a row of A, a power of two
  size_t   bytes;        ///< of shared memory
  bool     holds;        ///< it has room for the rows of A, too, where they have as many entries as they do on average
};

} // namespace sparsegpu::ksp
