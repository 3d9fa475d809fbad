/// A small front in shared memory before its elimination. Entries are loaded BATCH at a time and then stored: one after
/// the other each would wait for the one before.
#pragma once

#include "pc/lu/small_dense.cuh"

namespace sparsegpu::lu
{

static constexpr int CHILDREN = 32; ///< that a block knows at a time
static constexpr int BATCH    = 8;
/// Rows of a child's update that a lane has at most.
static constexpr int CHILD_ROWS = UPDATE_TILE / 32;

namespace
{
/// What a child leaves: entry (a, b) at from[a + b others] goes to row at[a], column at[b] of its parent.
template <class Number> struct ChildUpdate {
  const Number   *from;
  const PetscInt *at;
  int             others;
};
/// Children that a block knows, in its shared memory.
template <class Number> struct Children {
  ChildUpdate<Number> update[CHILDREN];
  unsigned char       at[CHILDREN][LARGEST_SMALL]; ///< ChildUpdate::at
};
static_assert(LARGEST_SMALL <= 256, "a row's place in a parent is a byte");
} // namespace

/// Children first, first + 1 .. of front f, at most CHILDREN. All threads must call; they may read after a barrier.
template <class Number> static __device__ void FindChildren(const FrontsView &V, PetscInt f, PetscInt first,
                                                            const Number *work, Children<Number> *found)
{
  const PetscInt begin = V.child_begin[f] + first, count = min(V.child_begin[f + 1] - begin, PetscInt(CHILDREN));
  const int      lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int c = warp; c < count; c += warps) {
    const PetscInt            child = V.child[begin + c];
    const PetscCount          row   = V.row_begin[child];
    const ChildUpdate<Number> update{work + V.update[child], V.relative + row,
                                     static_cast<int>(V.row_begin[child + 1] - row)};
    if (lane == 0) found->update[c] = update;
    for (int a = lane; a < update.others; a += 32) found->at[c][a] = static_cast<unsigned char>(update.at[a]);
  }
}

/// By one thread.
template <class Number> static __device__ void AwaitChildren(const LuWorkspace<Number> &W, PetscInt f, int launch)
{
  const int *pending = W.pending + f;
  Patience   patience;
  while (poll(pending) > 0) {
    if (patience.Ends(W.spins, W.report->ticket + launch, &W.report->stuck)) {
      W.report->stuck = 1;
      break;
    }
  }
  __threadfence();
}

/// A's entries and zeros. Neighbouring threads read neighbouring entries. Of a half what is above the diagonal is not
/// set.
template <bool half, class Number> static __device__ void AssembleOwn(const DeviceFront<Number> &F, Dense<Number> D)
{
  const int p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int i = lane; i < m; i += 32)
    for (int j0 = warp; j0 < (half ? i + 1 : m); j0 += BATCH * warps) {
      Number v[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        const int j = j0 + u * warps;
        v[u]        = Number(0);
        if (j < p && (!half || j <= i))
          v[u] = half && i >= p ? F.template Rest<half>(j)[i - p] : F.template Column<half>(j)[i];
        else if (!half && j < m && i < p)
          v[u] = F.upper[i + (j - p) * p];
      }
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        const int j = j0 + u * warps;
        if (j < m && (!half || j <= i)) D(i, j) = v[u];
      }
    }
}

/// A lane has `rows` rows. Loads are independent of each other.
template <bool half, int rows, class Number>
static __device__ __forceinline__ void AddUpdate(const ChildUpdate<Number> &C, const unsigned char *at, Dense<Number> D)
{
  const int n = C.others, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int b0 = warp; b0 < n; b0 += BATCH * warps) {
    Number v[BATCH][rows];
#pragma unroll
    for (int u = 0; u < BATCH; u++)
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int a = lane + 32 * q, b = b0 + u * warps;
        v[u][q] = a < n && b < n && (!half || b <= a) ? load_shared(C.from + a + b * n) : Number(0);
      }
#pragma unroll
    for (int u = 0; u < BATCH; u++)
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int a = lane + 32 * q, b = b0 + u * warps;
        if (a < n && b < n && (!half || b <= a)) D(at[a], at[b]) += v[u][q];
      }
  }
}

/// Adds what the children leave, one after the other, as their parts overlap; the first ones are found already.
template <bool half, int rows, class Number>
static __device__ void AssembleChildren(const FrontsView &V, PetscInt f, const Number *work, Children<Number> *found,
                                        Dense<Number> D)
{
  const PetscInt children = V.child_begin[f + 1] - V.child_begin[f];

  for (PetscInt c = 0; c < children; c++) {
    const PetscInt k = c % CHILDREN;
    if (c > 0 && k == 0) {
      FindChildren(V, f, c, work, found);
      __syncthreads();
    }
    if (found->update[k].others <= 32)
      AddUpdate<half, 1>(found->update[k], found->at[k], D);
    else
      AddUpdate<half, rows>(found->update[k], found->at[k], D);
    __syncthreads();
  }
}

} // namespace sparsegpu::lu
