/// What the threads of a block do with the planes of x on their way; see lines.hpp.
#pragma once

#include "device/bulk_copy.cuh"
#include "mat/formats/sending.cuh"
#include "mat/formats/stencil/lines.hpp"
#include "mat/formats/stencil/row.cuh"

namespace sparsegpu::formats
{

/// Where a block's planes are: `bytes` each in shared memory, of `length` entries of x. Plane k begins with column
/// first + k * stride, which x may not have: the first and the last planes have fewer entries.
struct PlaneSource {
  static constexpr int STAGES = StencilLines::STAGES; ///< plane k has stage (k + 1) % STAGES

  unsigned char *to;
  unsigned       bytes;
  PetscInt       length;
  PetscCount     first;
  PetscInt       stride, cols;

  /// Addresses there and in x are alike in their last bits; those of a stage are always the same.
  __device__ __forceinline__ Scalar *Entries(const Scalar *x, PetscInt k) const
  {
    const auto     at    = reinterpret_cast<std::uintptr_t>(x + first + static_cast<PetscCount>(k) * stride);
    const unsigned stage = static_cast<unsigned>(k + 1) % STAGES;
    return reinterpret_cast<Scalar *>(to + stage * bytes + static_cast<unsigned>(at) % BULK);
  }
  /// By one thread: plane k, and what is beside it up to the addresses that the copy engine takes: entries that are
  /// copied one by one are waited for.
  __device__ __forceinline__ void Copy(const Scalar *x, PetscInt k, std::uint64_t *arrival) const
  {
    const PetscCount begin = first + static_cast<PetscCount>(k) * stride;
    PetscCount       low = begin < 0 ? 0 : begin, high = begin + length < cols ? begin + length : cols;
    const PetscCount before = entries_behind_bulk(x + low), after = entries_before_bulk(x + high);
    unsigned         come = 0;
    if (before <= low) low -= before;
    if (after <= cols - high) high += after;
    if (high > low) come = copy_bulk(Entries(x, k) + (low - begin), x + low, high - low, arrival);
    arrive_expecting(arrival, come);
  }
};

/// sum + a u, rounded once where scalars are real, as in other kernels, whose sums the compiler contracts by default.
/// Written out, as it takes it apart where two ways through a plane have it in common.
__device__ __forceinline__ Scalar multiply_add(const Scalar &a, const Scalar &u, const Scalar &sum)
{
#if defined(PETSC_USE_COMPLEX)
  return sum + a * u;
#else
  return fma(a, u, sum);
#endif
}

/// The sums of a thread's rows, plane by plane.
template <int points, bool star> struct LineSums {
  static constexpr int ROWS   = LineWalk::ROWS;
  static constexpr int MIDDLE = points / 2;
  static constexpr int SIZE   = static_cast<int>(sizeof(Scalar));

  Scalar sum[ROWS] = {}, own[ROWS] = {}, next[ROWS] = {}; ///< of the rows before the plane that is read, in it, behind
  Scalar middle[ROWS];                                    ///< what was read at the rows' own places

  /// The middle one of three neighbouring points, of which q is one.
  static __device__ __forceinline__ constexpr int LineOf(int q)
  {
    return points == 9 ? q / 3 * 3 + 1 : points == 5 && (q == 0 || q == 4) ? q : MIDDLE;
  }
  /// Adds a plane. at: the address in shared memory of the place of the first row in it; `step` bytes from there to the
  /// next; has(v, q): whether the point q of row v exists. A point is read once for the rows of three planes, and a
  /// coefficient once for all rows.
  template <class Has>
  __device__ __forceinline__ void Add(const StencilLines &lines, unsigned at, unsigned step, const Has &has)
  {
#pragma unroll
    for (int v = 0; v < ROWS; v++) {
      sum[v]  = own[v];
      own[v]  = next[v];
      next[v] = Scalar(0);
    }
#pragma unroll
    for (int q = 0; q < points; q++) {
      Scalar u[ROWS];
#pragma unroll
      for (int v = 0; v < ROWS; v++) {
        u[v] = load_at(at + v * step + static_cast<unsigned>(lines.offset[LineOf(q)] * SIZE), (q - LineOf(q)) * SIZE);
        if (q == MIDDLE) middle[v] = u[v];
        if (!has(v, q)) u[v] = Scalar(0);
      }
      if (!star || q == MIDDLE)
#pragma unroll
        for (int v = 0; v < ROWS; v++) sum[v] = multiply_add(lines.value[2][q], u[v], sum[v]);
#pragma unroll
      for (int v = 0; v < ROWS; v++) own[v] = multiply_add(lines.value[1][q], u[v], own[v]);
      if (!star || q == MIDDLE)
#pragma unroll
        for (int v = 0; v < ROWS; v++) next[v] = multiply_add(lines.value[0][q], u[v], next[v]);
    }
  }
};

/// What a thread knows of one of its lines.
struct LineRows {
  unsigned has;          ///< StencilLines::bits
  int      first, count; ///< rows that are not left out

  /// `ends`: bits beside those of the line.
  __device__ __forceinline__ void Find(const StencilLines &lines, PetscInt rows, PetscInt slab, PetscInt place,
                                       unsigned ends)
  {
    const LineWalk &walk = lines.walk;
    const PetscInt  left = place < walk.stride ? rows - slab * walk.length * walk.stride - place : 0;
    const PetscInt  most = left <= 0 ? 0 : (left - 1) / walk.stride + 1;
    const int       n    = static_cast<int>(most < walk.length ? most : walk.length);
    has                  = n ? lines.bits[slab * walk.stride + place] | ends : 0;
    first                = has & StencilLines::NOT_FIRST ? 1 : 0;
    count                = has ? n - first - (has & StencilLines::NOT_LAST ? 1 : 0) : 0;
  }
  /// Planes from the first to the last whose points exist.
  __device__ __forceinline__ int Low() const { return has & StencilLines::BEFORE ? first - 1 : first; }
  __device__ __forceinline__ int High() const { return has & StencilLines::AFTER ? first + count : first + count - 1; }
  /// The points of plane k that exist.
  __device__ __forceinline__ unsigned In(int k) const { return k >= Low() && k <= High() ? has : 0; }
  /// The last plane that is read, with the one behind a row whose points there are received; -1: none.
  __device__ __forceinline__ int Last() const
  {
    if (has & StencilLines::GHOSTS_AFTER) return first + count + 1;
    return count || has & StencilLines::GHOSTS_BEFORE ? first + count : -1;
  }
  __device__ __forceinline__ bool Has(int k) const
  {
    return static_cast<unsigned>(k - first) < static_cast<unsigned>(count);
  }
};

/// Of a line of the first or the last slab: which of its ends are rows of GhostPlanes, which are left out of the walk
/// and have a plane beyond them.
__device__ __forceinline__ unsigned ghost_ends(const StencilLines &lines, PetscInt rows, PetscInt slab, PetscInt place)
{
  constexpr unsigned BEFORE = StencilLines::GHOSTS_BEFORE | StencilLines::BEFORE | StencilLines::NOT_FIRST,
                     AFTER  = StencilLines::GHOSTS_AFTER | StencilLines::AFTER | StencilLines::NOT_LAST;
  const LineWalk &walk      = lines.walk;
  unsigned        ends      = 0;

  if (!lines.ghosts.with || place >= walk.stride) return 0;
  if (slab == 0 && lines.ghosts.with[place]) ends |= BEFORE;
  if (walk.IsLast(slab, rows) && lines.ghosts.with[walk.stride + place]) ends |= AFTER;
  return ends;
}

/// A thread on its way through the planes.
template <int points, bool star, class Epilogue> struct LineWalker {
  static constexpr int      ROWS = LineWalk::ROWS;
  static constexpr unsigned FULL = (1u << points) - 1;

  LineRows                 lines[ROWS];
  LineSums<points, star>   sums;
  typename Epilogue::Ahead ahead[ROWS];          ///< of the rows in the plane before
  PetscInt                 row, stride, threads; ///< the first of these; rows from one to the next, along and beside
  int                      low, high, last;      ///< of the warp: planes without a missing point; the last of all

  __device__ __forceinline__ void Begin(const StencilLines &shared, PetscInt rows, PetscInt slab, PetscInt place)
  {
    stride  = shared.walk.stride;
    threads = static_cast<PetscInt>(blockDim.x);
    row     = slab * shared.walk.length * stride + place - 2 * stride;
    low = last = -1;
#pragma unroll
    for (int v = 0; v < ROWS; v++) {
      const LineRows &line = lines[v];
      unsigned        ends = 0;
      if constexpr (SENDS<Epilogue>) ends = ghost_ends(shared, rows, slab, place + v * threads);
      lines[v].Find(shared, rows, slab, place + v * threads, ends);
      const int whole = (line.has & FULL) == FULL ? line.High() : -2;
      high            = v == 0 || whole < high ? whole : high;
      low             = line.Low() > low ? line.Low() : low;
      last            = line.Last() > last ? line.Last() : last;
    }
    low  = __reduce_max_sync(0xffffffffu, low);
    high = __reduce_min_sync(0xffffffffu, high);
    last = __reduce_max_sync(0xffffffffu, last);
  }
  /// The rows that are left out, which the threads of all blocks behind the first `senders` share.
  static __device__ __forceinline__ void TakeOthers(const StencilLines &shared, const StencilLayout &A, const Scalar *x,
                                                    unsigned senders, Epilogue *epilogue)
  {
    const PetscInt all = static_cast<PetscInt>((gridDim.x - senders) * blockDim.x);
#pragma unroll 1
    for (PetscInt n = static_cast<PetscInt>((blockIdx.x - senders) * blockDim.x + threadIdx.x); n < shared.others;
         n += all) {
      const PetscInt r = shared.left_out[n];
      (*epilogue)(r, stencil_row_sum<3>(A, A.row_class[r], x + r, [] {}));
    }
  }
  /// Plane k has been read: it completes the rows before.
  __device__ __forceinline__ void Take(const StencilLines &shared, int k, unsigned at, unsigned step,
                                       Epilogue *epilogue)
  {
    if (k >= low && k <= high) {
      sums.Add(shared, at, step, [](int, int) { return true; });
    } else {
      unsigned in[ROWS];
#pragma unroll
      for (int v = 0; v < ROWS; v++) in[v] = lines[v].In(k);
      sums.Add(shared, at, step, [&](int v, int q) { return (in[v] >> q & 1) != 0; });
    }
#pragma unroll
    for (int v = 0; v < ROWS; v++) {
      if (lines[v].Has(k - 1)) epilogue->Take(row + v * threads, sums.sum[v], ahead[v]);
      if (lines[v].Has(k)) ahead[v] = epilogue->Load(row + stride + v * threads, sums.middle[v]);
    }
    row += stride;
  }
};

} // namespace sparsegpu::formats
