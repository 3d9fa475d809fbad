/// Epilogues: what a product kernel does with the sum of a row. A format has one loop over the entries of a row, its
/// row sum (dia/row.cuh, for example); its kernels give each row's sum to an epilogue. A scaled product or a product
/// with a norm is another epilogue of the same kernel.
///
/// An epilogue is a struct that a kernel takes by value: each thread has a copy, whose members may be its partial
/// results. It has
///
///     __device__ bool Skip(); // this product is not wanted any more: the kernel returns
///     template <class Index> __device__ void operator()(Index row, const Scalar &sum); // sum: row `row` of A x
///     __device__ void Finish();
///
/// Skip() is called by each thread before x is read; all get the same answer. operator() is called once for each row of
/// A, by one thread. Which thread that is, is fixed, but for rows that several thread blocks share (chunk.cuh): the
/// last block to arrive has the sum. Index is PetscInt or std::ptrdiff_t, as the kernel has the row. Finish() is called
/// once by each thread of each block after its rows, so that it may synchronise the block; blockDim.x is a multiple
/// of 32.
///
/// coo and merge, and so hyb, take no epilogue: their thread blocks share rows wherever one block's part ends, and
/// AddCarries_CUDA() adds the carried sums in a second kernel.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::formats
{

/// z = A x + y; y null or z allowed.
struct StoreSum {
  const Scalar *y; ///< [rows]
  Scalar       *z; ///< [rows]

  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum) const
  {
    z[row] = y ? y[row] + sum : sum;
  }
  __device__ __forceinline__ bool Skip() const { return false; }
  __device__ __forceinline__ void Finish() const {}
};

} // namespace sparsegpu::formats
