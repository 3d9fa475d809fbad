/// A front in the shared memory of a thread block.
#pragma once

#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

namespace
{
/// The dense front: entry (i, j) at [i + j * pitch]; an odd pitch, so that rows and columns are free of bank conflicts.
template <class Number> struct Dense {
  Number *entry;
  int     pitch;

  __device__ Number &operator()(int i, int j) const { return entry[i + j * pitch]; }
};
} // namespace

} // namespace sparsegpu::lu
