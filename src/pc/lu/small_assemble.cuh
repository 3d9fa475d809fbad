/// A small front in shared memory before its elimination. Entries are loaded BATCH at a time and then stored: one after
/// the other each would wait for the one before.
#pragma once

#include "pc/lu/small_dense.cuh"

namespace sparsegpu::lu
{

static constexpr int CHILDREN = 32; ///< that a block knows at a time, less than its threads
static constexpr int BATCH    = 8;

namespace
{
/// What a child leaves: entry (a, b) at from[a + b others] goes to row at[a], column at[b] of its parent.
struct ChildUpdate {
  const Scalar   *from;
  const PetscInt *at;
  int             others;
};
} // namespace

/// Children first, first + 1 .. of front f, at most CHILDREN, a thread each.
static __device__ void FindChildren(const FrontsView &V, PetscInt f, PetscInt first, const Scalar *work,
                                    ChildUpdate *found)
{
  const PetscInt c = V.child_begin[f] + first + static_cast<PetscInt>(threadIdx.x);
  if (threadIdx.x >= CHILDREN || c >= V.child_begin[f + 1]) return;
  const PetscInt   child = V.child[c];
  const PetscCount begin = V.row_begin[child];
  found[threadIdx.x] =
      ChildUpdate{work + V.update[child], V.relative + begin, static_cast<int>(V.row_begin[child + 1] - begin)};
}

/// By one thread.
static __device__ void AwaitChildren(const LuWorkspace &W, PetscInt f, int launch)
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
template <bool half> static __device__ void AssembleOwn(const DeviceFront &F, Dense D)
{
  const int p = static_cast<int>(F.pivots), m = static_cast<int>(F.rows);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int i = lane; i < m; i += 32)
    for (int j0 = warp; j0 < (half ? i + 1 : m); j0 += BATCH * warps) {
      Scalar v[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        const int j = j0 + u * warps;
        v[u]        = Scalar(0);
        if (j < p && (!half || j <= i))
          v[u] = half && i >= p ? F.Rest<half>(j)[i - p] : F.Column<half>(j)[i];
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

template <bool half> static __device__ void AddUpdate(const ChildUpdate &C, Dense D)
{
  const int n = C.others, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  for (int a = lane; a < n; a += 32) {
    const int row = static_cast<int>(C.at[a]);
    for (int b0 = warp; b0 < (half ? a + 1 : n); b0 += BATCH * warps) {
      Scalar v[BATCH];
      int    column[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        const int b = b0 + u * warps;
        column[u]   = b < n && (!half || b <= a) ? static_cast<int>(C.at[b]) : -1;
        v[u]        = column[u] >= 0 ? load_shared(C.from + a + b * n) : Scalar(0);
      }
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        if (column[u] >= 0) D(row, column[u]) += v[u];
    }
  }
}

/// Adds what the children leave, one after the other, as their parts overlap; the first ones are found already.
template <bool half> static __device__ void AssembleChildren(const FrontsView &V, PetscInt f, const Scalar *work,
                                                             ChildUpdate *found, Dense D)
{
  const PetscInt children = V.child_begin[f + 1] - V.child_begin[f];

  for (PetscInt c = 0; c < children; c++) {
    if (c > 0 && c % CHILDREN == 0) {
      FindChildren(V, f, c, work, found);
      __syncthreads();
    }
    AddUpdate<half>(found[c % CHILDREN], D);
    __syncthreads();
  }
}

} // namespace sparsegpu::lu
