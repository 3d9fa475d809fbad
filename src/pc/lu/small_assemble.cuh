/// A small front in shared memory before its elimination. Entries are loaded BATCH at a time and then stored: one after
/// the other each would wait for the one before.
#pragma once

#include "pc/lu/small_dense.cuh"

namespace sparsegpu::lu
{

static constexpr int BATCH = 8;
/// Rows of a child's update that a lane has at most.
static constexpr int CHILD_ROWS = UPDATE_TILE / 32;

namespace
{
/// A column of a child's update: entry a, from the diagonal on if of a half, goes to row at[a] of the parent.
template <class Number> struct Source {
  const Number   *from;
  const PetscInt *at;
  unsigned        numbers; ///< bytes: the child's others; the column's number there, and in the parent
};
static_assert(LARGEST_SMALL <= 256 && UPDATE_TILE < 256, "numbers are bytes");

/// The columns of children that a warp adds: those that go to columns `warp`, warp + warps ... of the front, in that
/// order. As a column of the front is one warp's, which meets the children in their order, no warp waits for another,
/// and sums are the same on each run.
template <class Number> class Sources
{
public:
  /// All lanes must call. Of the front whose rows' sources begin at `number`.
  __device__ Sources(const FrontsView &V, PetscCount number, int rows)
  {
    const int lane = threadIdx.x % 32, column = Column(lane);
    PetscInt  begin = 0, end = 0;

    if (column < rows) {
      begin = V.source_begin[number + column];
      end   = V.source_begin[number + column + 1];
    }
    last_ = static_cast<int>(end - begin);
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(ALL_LANES, last_, step);
      if (lane >= step) last_ += before;
    }
    shift_ = end - last_;
    count_ = __shfl_sync(ALL_LANES, last_, 31);
  }
  __device__ int Count() const { return count_; }
  /// A lane's own of sources first ... first + 31; all lanes must call.
  __device__ Source<Number> Find(const FrontsView &V, const Number *work, int first) const
  {
    const int      t = first + static_cast<int>(threadIdx.x) % 32;
    int            k = 0; // the lane whose column it is of
    Source<Number> source{nullptr, nullptr, 0};

    for (int step = 16; step > 0; step /= 2)
      if (__shfl_sync(ALL_LANES, last_, k + step - 1) <= t) k += step;
    const PetscInt shift = __shfl_sync(ALL_LANES, shift_, k);
    if (t >= count_) return source;
    const PetscInt   which = V.source[shift + t], child = V.owner[which];
    const PetscCount begin = V.row_begin[child];
    const unsigned   n     = static_cast<unsigned>(V.row_begin[child + 1] - begin),
                   own     = static_cast<unsigned>(which - begin);
    source.from            = work + V.update[child] + own * n;
    source.at              = V.relative + begin;
    source.numbers         = n | own << 8 | static_cast<unsigned>(Column(k)) << 16;
    return source;
  }

private:
  __device__ static int Column(int k)
  {
    return static_cast<int>(threadIdx.x) / 32 + k * (static_cast<int>(blockDim.x) / 32);
  }
  PetscInt shift_; ///< from the number of a source of the lane's column, among the warp's, to its place
  int      last_;  ///< how many of the warp's are up to the lane's column
  int      count_;
};
} // namespace

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

template <class T> static __device__ __forceinline__ const T *ShufflePointer(const T *p, int lane)
{
  return reinterpret_cast<const T *>(__shfl_sync(ALL_LANES, reinterpret_cast<unsigned long long>(p), lane));
}

/// Adds `count` sources, one a lane, of children of at most 32 `rows` others each. Loads are independent of each other.
template <bool half, int rows, class Number>
static __device__ __forceinline__ void AddSources(const Source<Number> &mine, int count, Dense<Number> D)
{
  constexpr int LOADS = rows == 1 ? BATCH : BATCH / 2;

  for (int u0 = 0; u0 < count; u0 += LOADS) {
    Number   v[LOADS][rows];
    PetscInt to[LOADS][rows];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const int             source  = (u0 + u) % 32; // past the last ones none is wanted
      const unsigned        numbers = __shfl_sync(ALL_LANES, mine.numbers, source);
      const int             n = u0 + u < count ? numbers & 255 : 0, own = numbers >> 8 & 255;
      const Number *const   from = ShufflePointer(mine.from, source);
      const PetscInt *const at   = ShufflePointer(mine.at, source);
#pragma unroll
      for (int q = 0; q < rows; q++) {
        const int  a      = static_cast<int>(threadIdx.x) % 32 + 32 * q;
        const bool wanted = a < n && (!half || own <= a);
        v[u][q]           = wanted ? load_shared(from + a) : Number(0);
        to[u][q]          = wanted ? at[a] : -1;
      }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const int column = __shfl_sync(ALL_LANES, mine.numbers, (u0 + u) % 32) >> 16;
#pragma unroll
      for (int q = 0; q < rows; q++)
        if (to[u][q] >= 0) D(static_cast<int>(to[u][q]), column) += v[u][q];
      __syncwarp(); // the next one's entries may be the same, of other lanes
    }
  }
}

/// Adds what the children leave; all threads must call, and wait before and after. mine: sources.Find() of the first
/// ones.
template <bool half, int rows, class Number>
static __device__ void AssembleChildren(const FrontsView &V, const Sources<Number> &sources, Source<Number> mine,
                                        const Number *work, Dense<Number> D)
{
  for (int first = 0; first < sources.Count(); first += 32) {
    const Source<Number> next  = sources.Find(V, work, first + 32);
    const int            count = min(sources.Count() - first, 32);
    if (__any_sync(ALL_LANES, (mine.numbers & 255) > 32))
      AddSources<half, rows>(mine, count, D);
    else
      AddSources<half, 1>(mine, count, D);
    mine = next;
  }
}

} // namespace sparsegpu::lu
