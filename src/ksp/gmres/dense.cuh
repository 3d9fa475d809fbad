/// The bodies of the kernels of dense.cu and pipeline.cu. All threads of a block call them, with THREADS threads.
#pragma once

#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/gmres/dense.hpp"

namespace sparsegpu
{

constexpr int DENSE_THREADS = 256;
constexpr int DENSE_GROUP   = 8; ///< columns that a block reads at once: loads in flight for every entry of w

/// Blocks of dots_body(): x counts groups of columns, y shares of the rows. Neighbouring blocks read the same w.
inline dim3 dots_blocks(PetscInt rows, PetscInt columns, PetscInt multiprocessors)
{
  const PetscInt groups = (columns + DENSE_GROUP - 1) / DENSE_GROUP;
  const PetscInt useful = (rows + 4 * DENSE_THREADS - 1) / (4 * DENSE_THREADS); // shares of four rows a thread
  PetscInt       shares = 8 * multiprocessors / groups;                         // what keeps the device full
  if (shares > useful) shares = useful;
  if (shares < 1) shares = 1;
  return dim3(static_cast<unsigned>(groups), static_cast<unsigned>(shares));
}

/// dots[c] = V_c^H V_last for all columns. A block sums a group of columns over its share of the rows; neighbouring
/// threads read neighbouring rows. The last block to arrive adds the shares of every column in their order, so the
/// result does not depend on who is last.
__device__ __forceinline__ void dots_body(const Dense &V, PetscInt columns, const DotScratch &scratch, Scalar *dots)
{
  constexpr int     WARPS = DENSE_THREADS / 32;
  __shared__ Scalar warps[DENSE_GROUP][WARPS];
  __shared__ bool   last;
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const PetscInt    first = static_cast<PetscInt>(blockIdx.x) * DENSE_GROUP, shares = gridDim.y;
  const PetscInt    length = (V.rows + shares - 1) / shares, begin = static_cast<PetscInt>(blockIdx.y) * length;
  const PetscInt    end = begin + length < V.rows ? begin + length : V.rows;
  const Scalar     *w   = V.v + static_cast<size_t>(columns - 1) * V.stride;
  const Scalar     *v[DENSE_GROUP];
  Scalar            sum[DENSE_GROUP];

#pragma unroll
  for (int k = 0; k < DENSE_GROUP; k++) { // past the last column: the last again, which is in the cache
    v[k]   = V.v + static_cast<size_t>(first + k < columns ? first + k : columns - 1) * V.stride;
    sum[k] = Scalar(0);
  }
#pragma unroll 2
  for (PetscInt r = begin + threadIdx.x; r < end; r += DENSE_THREADS) {
    const Scalar wr = w[r];
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++) sum[k] += Conj(v[k][r]) * wr;
  }
#pragma unroll
  for (int k = 0; k < DENSE_GROUP; k++) {
    sum[k] = group_sum<32>(sum[k]);
    if (lane == 0) warps[k][warp] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x < DENSE_GROUP && first + static_cast<PetscInt>(threadIdx.x) < columns) {
    Scalar total = warps[threadIdx.x][0];
    for (int k = 1; k < WARPS; k++) total += warps[threadIdx.x][k];
    scratch.partial[static_cast<size_t>(first + threadIdx.x) * shares + blockIdx.y] = total;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(scratch.arrived, 1u) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (PetscInt c = warp; c < columns; c += WARPS) {
    Scalar total(0);
    for (PetscInt s = lane; s < shares; s += 32)
      total += load_shared(scratch.partial + static_cast<size_t>(c) * shares + s);
    total = group_sum<32>(total);
    if (lane == 0) dots[c] = total;
  }
  if (threadIdx.x == 0) *scratch.arrived = 0;
}

/// The sum of h[c] V_c[r] over `columns` columns, in their order. h lies in shared memory.
__device__ __forceinline__ Scalar combined_row(const Dense &V, PetscInt columns, const Scalar *h, PetscInt r)
{
  const Scalar *v = V.v + r;
  Scalar        sum(0), entry[DENSE_GROUP];
  PetscInt      c = 0;

  for (; c + DENSE_GROUP <= columns; c += DENSE_GROUP) {
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++) entry[k] = v[static_cast<size_t>(c + k) * V.stride];
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++) sum += h[c + k] * entry[k];
  }
  for (; c < columns; c++) sum += h[c] * v[static_cast<size_t>(c) * V.stride];
  return sum;
}

/// V_last = scale (V_last - sum of h[c] V_c), one thread a row in turn; blocks [0, blocks) share the rows, this is
/// number `block`.
__device__ __forceinline__ void update_body(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale,
                                            PetscInt block, PetscInt blocks)
{
  Scalar *w = V.v + static_cast<size_t>(columns - 1) * V.stride;

  for (PetscInt r = block * DENSE_THREADS + threadIdx.x; r < V.rows; r += blocks * DENSE_THREADS)
    w[r] = Scalar(scale) * (w[r] - combined_row(V, columns - 1, h, r));
}
/// Shared memory for so many coefficients: compilers read them in groups, beyond the last one, too.
inline size_t coefficient_bytes(PetscInt columns)
{
  return static_cast<size_t>((columns + DENSE_GROUP - 1) / DENSE_GROUP * DENSE_GROUP) * sizeof(Scalar);
}
inline unsigned update_blocks(PetscInt rows, PetscInt multiprocessors)
{
  const PetscInt useful = (rows + DENSE_THREADS - 1) / DENSE_THREADS, full = 8 * multiprocessors;
  return static_cast<unsigned>(useful < 1 ? 1 : useful < full ? useful : full);
}

} // namespace sparsegpu
