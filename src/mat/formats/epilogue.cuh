/// Epilogues: what a product kernel does with the sum of a row. A format has one loop over the entries of a row, its
/// row sum (dia/row.cuh, for example); its kernels give each row's sum to an epilogue. A scaled product or a product
/// with a norm is another epilogue of the same kernel.
///
/// An epilogue is a struct that a kernel takes by value: each thread has a copy, whose members may be its partial
/// results. It has
///
///     __device__ bool Skip(); // this product is not wanted any more: the kernel returns
///     template <class Index> __device__ void Prepare(Index row); // what this row's call reads may be fetched
///     template <class Index> __device__ void operator()(Index row, const Scalar &sum); // sum: row `row` of A x
///     // and, where a kernel takes operator() in two parts: what it reads of others, and the rest
///     template <class Index> __device__ Ahead Load(Index row, const Scalar &x); // x: its entry `row`, if there is one
///     template <class Index> __device__ void Take(Index row, const Scalar &sum, const Ahead &);
///     __device__ void Finish(); // of a kernel whose first blocks have no rows, Finish(how many)
///
/// Skip() is called by each thread before x is read; all get the same answer. Prepare() may be called before the sum is
/// formed, where the kernel waits for memory rather than for bandwidth: of short rows. operator() is called once for
/// each row of A, by one thread. Which thread that is, is fixed, but for rows that several thread blocks share
/// (chunk.cuh): the last block to arrive has the sum. Index is PetscInt or std::ptrdiff_t, as the kernel has the row.
/// Finish() is called once by each thread of each block with rows, after them, so that it may synchronise the block;
/// blockDim.x is a multiple of 32.
///
/// coo and merge, and so hyb, take no epilogue: their thread blocks share rows wherever one block's part ends, and
/// AddCarries_CUDA() adds the carried sums in a second kernel.
#pragma once

#include "device/load.cuh"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

/// Stores what the target says.
struct StoreSum {
  ProductTarget to;

  struct Ahead {
    Scalar add, d, x, z; ///< y or f, and what else is read of a row
  };
  template <class Index> __device__ __forceinline__ Ahead Load(Index row, const Scalar &x) const
  {
    Ahead a = {Scalar(0), Scalar(1), Scalar(0), Scalar(0)};
    if (!to.f) {
      if (to.y) a.add = to.y[row];
      return a;
    }
    a.add = to.f[row];
    if (to.d) a.d = to.d[row];
    if (to.now != 0) a.x = x;
    if (to.before != 0) a.z = to.z[row];
    return a;
  }
  template <class Index> __device__ __forceinline__ void Take(Index row, const Scalar &sum, const Ahead &a) const
  {
    if (!to.f) {
      to.z[row] = to.y ? a.add + sum : sum;
      return;
    }
    const Scalar factor = to.d ? Scalar(to.residual) * a.d : Scalar(to.residual);
    Scalar       next   = factor * (a.add - sum);
    if (to.now != 0) next += Scalar(to.now) * a.x;
    if (to.before != 0) next += Scalar(to.before) * a.z;
    to.z[row] = next;
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum) const
  {
    Take(row, sum, Load(row, to.f && to.now != 0 ? to.x[row] : Scalar(0)));
  }
  __device__ __forceinline__ bool                        Skip() const { return false; }
  template <class Index> __device__ __forceinline__ void Prepare(Index row) const
  {
    if (!to.f) {
      if (to.y) fetch_ahead(to.y + row);
      return;
    }
    fetch_ahead(to.f + row);
    if (to.d) fetch_ahead(to.d + row);
    if (to.before != 0) fetch_ahead(to.z + row);
  }
  __device__ __forceinline__ void Finish(unsigned = 0) const {}
};

} // namespace sparsegpu::formats
