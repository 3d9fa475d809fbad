/// The bodies of the kernels of dense.cu and pipeline.cu. All threads of a block call them, with DENSE_THREADS threads.
#pragma once

#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/gmres/dense.hpp"

namespace sparsegpu::gmres
{

constexpr int DENSE_THREADS = 256;
constexpr int DENSE_BLOCKS  = 3; ///< on a multiprocessor: what the registers of DENSE_GROUP packs allow
constexpr int DENSE_GROUP   = 8; ///< columns that are read at once: loads in flight for every entry of w
/// Neighbouring rows that a thread reads with one load of 16 bytes. Columns begin on full lines.
constexpr int DENSE_PACK = sizeof(Scalar) < 16 ? 16 / sizeof(Scalar) : 1;
constexpr int DENSE_TILE = DENSE_THREADS * DENSE_PACK; ///< rows

struct alignas(sizeof(Scalar) * DENSE_PACK) DensePack {
  Scalar s[DENSE_PACK];
};

/// How blocks share the work of both passes: x counts groups of columns, y shares of the rows, all at once on the
/// device. The first pass takes the tiles of a share from the first to the last, the second from the last to the first,
/// the blocks of a share by turns: what the first has read last is still in the L2 cache.
struct DenseBlocks {
  unsigned groups, shares;
};
inline DenseBlocks dense_blocks(PetscInt rows, PetscInt columns, PetscInt multiprocessors)
{
  const PetscInt groups = (columns + DENSE_GROUP - 1) / DENSE_GROUP, tiles = (rows + DENSE_TILE - 1) / DENSE_TILE;
  PetscInt       shares = DENSE_BLOCKS * multiprocessors / groups - 1; // the pipeline adds one
  if (shares > tiles) shares = tiles;
  if (shares < 1) shares = 1;
  return DenseBlocks{static_cast<unsigned>(groups), static_cast<unsigned>(shares)};
}
/// Tiles [begin, end) of a share.
struct DenseShare {
  PetscInt begin, end;
};
__device__ __forceinline__ DenseShare dense_share(PetscInt rows, PetscInt share, PetscInt shares)
{
  const long long tiles = (rows + DENSE_TILE - 1) / DENSE_TILE;
  return DenseShare{static_cast<PetscInt>(share * tiles / shares), static_cast<PetscInt>((share + 1) * tiles / shares)};
}
__device__ __forceinline__ DensePack load_pack(const Scalar *p)
{
  return *reinterpret_cast<const DensePack *>(p);
}

/// sum[k] += V_(first + k)^H V_last over a pack of rows from r, or over what is left of the rows.
__device__ __forceinline__ void dots_pack(const Dense &V, PetscInt first, int count, const Scalar *w, PetscInt r,
                                          Scalar (&sum)[DENSE_GROUP])
{
  const Scalar *v = V.v + static_cast<size_t>(first) * V.stride;

  if (r + DENSE_PACK <= V.rows) {
    const DensePack wr = load_pack(w + r);
    DensePack       entry[DENSE_GROUP];
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (k < count) entry[k] = load_pack(v + static_cast<size_t>(k) * V.stride + r);
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (k < count)
#pragma unroll
        for (int p = 0; p < DENSE_PACK; p++) sum[k] += Conj(entry[k].s[p]) * wr.s[p];
    return;
  }
  for (; r < V.rows; r++) {
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (k < count) sum[k] += Conj(v[static_cast<size_t>(k) * V.stride + r]) * w[r];
  }
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
  const PetscInt    groups = gridDim.x, shares = gridDim.y;
  const PetscInt    first = static_cast<PetscInt>(blockIdx.x) * columns / groups;
  const int         count = static_cast<int>((static_cast<PetscInt>(blockIdx.x) + 1) * columns / groups - first);
  const DenseShare  share = dense_share(V.rows, blockIdx.y, shares);
  const Scalar     *w     = V.v + static_cast<size_t>(columns - 1) * V.stride;
  Scalar            sum[DENSE_GROUP];

#pragma unroll
  for (int k = 0; k < DENSE_GROUP; k++) sum[k] = Scalar(0);
  for (PetscInt t = share.begin; t < share.end; t++)
    dots_pack(V, first, count, w, t * DENSE_TILE + static_cast<PetscInt>(threadIdx.x) * DENSE_PACK, sum);
#pragma unroll
  for (int k = 0; k < DENSE_GROUP; k++) {
    sum[k] = group_sum<32>(sum[k]);
    if (lane == 0) warps[k][warp] = sum[k];
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < count) {
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

/// The sum of h[c] V_c over `columns` columns, in their order, for a pack of rows from r. h is in shared memory.
__device__ __forceinline__ DensePack combined_pack(const Dense &V, PetscInt columns, const Scalar *h, PetscInt r)
{
  DensePack sum, entry[DENSE_GROUP];

#pragma unroll
  for (int p = 0; p < DENSE_PACK; p++) sum.s[p] = Scalar(0);
  for (PetscInt c = 0; c < columns; c += DENSE_GROUP) {
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (c + k < columns) entry[k] = load_pack(V.v + static_cast<size_t>(c + k) * V.stride + r);
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (c + k < columns)
#pragma unroll
        for (int p = 0; p < DENSE_PACK; p++) sum.s[p] += h[c + k] * entry[k].s[p];
  }
  return sum;
}
__device__ __forceinline__ Scalar combined_row(const Dense &V, PetscInt columns, const Scalar *h, PetscInt r)
{
  Scalar sum(0);
  for (PetscInt c = 0; c < columns; c++) sum += h[c] * V.v[static_cast<size_t>(c) * V.stride + r];
  return sum;
}

/// V_last = scale (V_last - sum of h[c] V_c), one thread a pack of rows in turn, by block `group` of `groups` of a
/// share.
__device__ __forceinline__ void update_body(const Dense &V, PetscInt columns, const Scalar *h, PetscReal scale,
                                            PetscInt group, PetscInt groups, const DenseShare &share)
{
  Scalar *w = V.v + static_cast<size_t>(columns - 1) * V.stride;

  for (PetscInt t = share.end - 1 - group; t >= share.begin; t -= groups) {
    PetscInt r = t * DENSE_TILE + static_cast<PetscInt>(threadIdx.x) * DENSE_PACK;
    if (r + DENSE_PACK <= V.rows) {
      DensePack       wr  = load_pack(w + r);
      const DensePack sum = combined_pack(V, columns - 1, h, r);
#pragma unroll
      for (int p = 0; p < DENSE_PACK; p++) wr.s[p] = Scalar(scale) * (wr.s[p] - sum.s[p]);
      *reinterpret_cast<DensePack *>(w + r) = wr;
    } else {
      for (; r < V.rows; r++) w[r] = Scalar(scale) * (w[r] - combined_row(V, columns - 1, h, r));
    }
  }
}
/// Shared memory for so many coefficients: compilers read them in groups, beyond the last one, too.
inline size_t coefficient_bytes(PetscInt columns)
{
  return static_cast<size_t>((columns + DENSE_GROUP - 1) / DENSE_GROUP * DENSE_GROUP) * sizeof(Scalar);
}

} // namespace sparsegpu::gmres
