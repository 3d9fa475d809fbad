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
template <class Entry> constexpr int dense_pack = sizeof(Entry) < 16 ? 16 / sizeof(Entry) : 1;
template <class Entry> constexpr int dense_tile = DENSE_THREADS *dense_pack<Entry>; ///< rows

/// Entries of neighbouring rows: of the basis one load, of w in a compressed one two.
template <class T, int count> struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) DensePack {
  T s[count];
};
template <class Entry> using BasisPack  = DensePack<Entry, dense_pack<Entry>>;
template <class Entry> using VectorPack = DensePack<Scalar, dense_pack<Entry>>;

/// How blocks share the work of both passes: x counts groups of columns, y shares of the rows, all at once on the
/// device. The first pass takes the tiles of a share from the first to the last, the second from the last to the first,
/// the blocks of a share by turns: what the first has read last is still in the L2 cache.
struct DenseBlocks {
  unsigned groups, shares;
};
template <class Entry> DenseBlocks dense_blocks(PetscInt rows, PetscInt columns, PetscInt multiprocessors)
{
  const PetscInt groups = (columns + DENSE_GROUP - 1) / DENSE_GROUP,
                 tiles  = (rows + dense_tile<Entry> - 1) / dense_tile<Entry>;
  PetscInt shares       = DENSE_BLOCKS * multiprocessors / groups - 1; // the pipeline adds one
  if (shares > tiles) shares = tiles;
  if (shares < 1) shares = 1;
  return DenseBlocks{static_cast<unsigned>(groups), static_cast<unsigned>(shares)};
}
/// Tiles [begin, end) of a share.
struct DenseShare {
  PetscInt begin, end;
};
template <class Entry> __device__ __forceinline__ DenseShare dense_share(PetscInt rows, PetscInt share, PetscInt shares)
{
  const long long tiles = (rows + dense_tile<Entry> - 1) / dense_tile<Entry>;
  return DenseShare{static_cast<PetscInt>(share * tiles / shares), static_cast<PetscInt>((share + 1) * tiles / shares)};
}
template <class Pack, class T> __device__ __forceinline__ Pack load_pack(const T *p)
{
  return *reinterpret_cast<const Pack *>(p);
}

/// sum[k] += V_(first + k)^H w over a pack of rows from r, or over what is left of the rows. `self`: the last of the
/// `count` columns is w itself, which is not stored.
template <class Entry> __device__ __forceinline__ void dots_pack(const Basis<Entry> &V, PetscInt first, int count,
                                                                 bool self, PetscInt r, Scalar (&sum)[DENSE_GROUP])
{
  constexpr int PACK   = dense_pack<Entry>;
  const Entry  *v      = V.v + static_cast<size_t>(first) * V.stride;
  const int     stored = self ? count - 1 : count;

  if (r + PACK <= V.rows) {
    const VectorPack<Entry> wr = load_pack<VectorPack<Entry>>(V.w + r);
    BasisPack<Entry>        entry[DENSE_GROUP];
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (k < stored) entry[k] = load_pack<BasisPack<Entry>>(v + static_cast<size_t>(k) * V.stride + r);
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++) {
#pragma unroll
      for (int p = 0; p < PACK; p++) {
        if (k < stored) sum[k] += Conj(Widen(entry[k].s[p])) * wr.s[p];
        if (self && k == stored) sum[k] += Conj(wr.s[p]) * wr.s[p];
      }
    }
    return;
  }
  for (; r < V.rows; r++) {
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++) {
      if (k < stored) sum[k] += Conj(Widen(v[static_cast<size_t>(k) * V.stride + r])) * V.w[r];
      if (self && k == stored) sum[k] += Conj(V.w[r]) * V.w[r];
    }
  }
}

/// dots[c] = V_c^H V_last for all columns. A block sums a group of columns over its share of the rows; neighbouring
/// threads read neighbouring rows. The last block to arrive adds the shares of every column in their order, so the
/// result does not depend on who is last; true for it.
template <class Entry> __device__ __forceinline__ bool dots_body(const Basis<Entry> &V, PetscInt columns,
                                                                 const DotScratch &scratch, Scalar *dots)
{
  constexpr int     WARPS = DENSE_THREADS / 32;
  __shared__ Scalar warps[DENSE_GROUP][WARPS];
  __shared__ bool   last;
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const PetscInt    groups = gridDim.x, shares = gridDim.y;
  const PetscInt    first = static_cast<PetscInt>(blockIdx.x) * columns / groups;
  const int         count = static_cast<int>((static_cast<PetscInt>(blockIdx.x) + 1) * columns / groups - first);
  const DenseShare  share = dense_share<Entry>(V.rows, blockIdx.y, shares);
  const bool        self  = Basis<Entry>::NARROW && first + count == columns;
  Scalar            sum[DENSE_GROUP];

#pragma unroll
  for (int k = 0; k < DENSE_GROUP; k++) sum[k] = Scalar(0);
  for (PetscInt t = share.begin; t < share.end; t++)
    dots_pack(V, first, count, self, t * dense_tile<Entry> + static_cast<PetscInt>(threadIdx.x) * dense_pack<Entry>,
              sum);
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
  if (!last) return false;
  __threadfence();
  for (PetscInt c = warp; c < columns; c += WARPS) {
    Scalar total(0);
    for (PetscInt s = lane; s < shares; s += 32)
      total += load_shared(scratch.partial + static_cast<size_t>(c) * shares + s);
    total = group_sum<32>(total);
    if (lane == 0) dots[c] = total;
  }
  if (threadIdx.x == 0) *scratch.arrived = 0;
  return true;
}

/// The sum of h[c] V_c over `columns` columns, in their order, for a pack of rows from r. h is in shared memory.
template <class Entry> __device__ __forceinline__ VectorPack<Entry> combined_pack(const Basis<Entry> &V,
                                                                                  PetscInt columns, const Scalar *h,
                                                                                  PetscInt r)
{
  VectorPack<Entry> sum;
  BasisPack<Entry>  entry[DENSE_GROUP];

#pragma unroll
  for (int p = 0; p < dense_pack<Entry>; p++) sum.s[p] = Scalar(0);
  for (PetscInt c = 0; c < columns; c += DENSE_GROUP) {
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (c + k < columns) entry[k] = load_pack<BasisPack<Entry>>(V.v + static_cast<size_t>(c + k) * V.stride + r);
#pragma unroll
    for (int k = 0; k < DENSE_GROUP; k++)
      if (c + k < columns)
#pragma unroll
        for (int p = 0; p < dense_pack<Entry>; p++) sum.s[p] += h[c + k] * Widen(entry[k].s[p]);
  }
  return sum;
}
template <class Entry>
__device__ __forceinline__ Scalar combined_row(const Basis<Entry> &V, PetscInt columns, const Scalar *h, PetscInt r)
{
  Scalar sum(0);
  for (PetscInt c = 0; c < columns; c++) sum += h[c] * Widen(V.v[static_cast<size_t>(c) * V.stride + r]);
  return sum;
}

/// w = scale (w - sum of h[c] V_c), one thread a pack of rows in turn, by block `group` of `groups` of a share. `ends`:
/// w is orthogonal, and a compressed basis stores it.
template <class Entry>
__device__ __forceinline__ void update_body(const Basis<Entry> &V, PetscInt columns, const Scalar *h, PetscReal scale,
                                            bool ends, PetscInt group, PetscInt groups, const DenseShare &share)
{
  constexpr int PACK   = dense_pack<Entry>;
  const bool    stores = Basis<Entry>::NARROW && ends;
  Entry        *column = V.v + static_cast<size_t>(columns - 1) * V.stride;

  for (PetscInt t = share.end - 1 - group; t >= share.begin; t -= groups) {
    PetscInt r = t * dense_tile<Entry> + static_cast<PetscInt>(threadIdx.x) * PACK;
    if (r + PACK <= V.rows) {
      VectorPack<Entry>       wr  = load_pack<VectorPack<Entry>>(V.w + r);
      const VectorPack<Entry> sum = combined_pack(V, columns - 1, h, r);
      BasisPack<Entry>        narrow;
#pragma unroll
      for (int p = 0; p < PACK; p++) {
        wr.s[p] = Scalar(scale) * (wr.s[p] - sum.s[p]);
        if (!stores) continue;
        Store(wr.s[p], &narrow.s[p]);
        wr.s[p] = Widen(narrow.s[p]);
      }
      *reinterpret_cast<VectorPack<Entry> *>(V.w + r) = wr;
      if (stores) *reinterpret_cast<BasisPack<Entry> *>(column + r) = narrow;
    } else {
      for (; r < V.rows; r++) {
        Scalar w = Scalar(scale) * (V.w[r] - combined_row(V, columns - 1, h, r));
        if (stores) {
          Store(w, column + r);
          w = Widen(column[r]);
        }
        V.w[r] = w;
      }
    }
  }
}
/// out = base + scale .* (V y), one thread a pack of rows in turn; every block copies y [columns] to its shared memory.
template <class Entry> __device__ __forceinline__ void combine_body(const Basis<Entry> &V, PetscInt columns,
                                                                    const Scalar *y, const Scalar *scale,
                                                                    const Scalar *base, Scalar *out)
{
  extern __shared__ __align__(16) unsigned char shared[];
  Scalar *const                                 coefficient = reinterpret_cast<Scalar *>(shared);

  for (PetscInt c = threadIdx.x; c < columns; c += DENSE_THREADS) coefficient[c] = y[c];
  __syncthreads();
  const PetscInt step = static_cast<PetscInt>(gridDim.x) * dense_tile<Entry>;
  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * dense_tile<Entry>; first < V.rows; first += step) {
    const PetscInt    r = first + static_cast<PetscInt>(threadIdx.x) * dense_pack<Entry>;
    VectorPack<Entry> sum;
    if (r + dense_pack<Entry> <= V.rows)
      sum = combined_pack(V, columns, coefficient, r);
    else
      for (int p = 0; r + p < V.rows; p++) sum.s[p] = combined_row(V, columns, coefficient, r + p);
    for (int p = 0; p < dense_pack<Entry> && r + p < V.rows; p++) { // other arrays need not begin on a full line
      const Scalar scaled = scale ? scale[r + p] * sum.s[p] : sum.s[p];
      out[r + p]          = base ? base[r + p] + scaled : scaled;
    }
  }
}

/// Shared memory for so many coefficients: compilers read them in groups, beyond the last one, too.
inline size_t coefficient_bytes(PetscInt columns)
{
  return static_cast<size_t>((columns + DENSE_GROUP - 1) / DENSE_GROUP * DENSE_GROUP) * sizeof(Scalar);
}

} // namespace sparsegpu::gmres
