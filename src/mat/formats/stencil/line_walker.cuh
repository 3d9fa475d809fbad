/// What the threads of a block do with the planes of x on their way; see lines.hpp.
#pragma once

#include "device/bulk_copy.cuh"
#include "mat/formats/stencil/lines.hpp"

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
  /// By one thread: plane k.
  __device__ __forceinline__ void Copy(const Scalar *x, PetscInt k, std::uint64_t *arrival) const
  {
    const PetscCount begin = first + static_cast<PetscCount>(k) * stride, low = begin < 0 ? 0 : begin;
    const PetscCount high = begin + length < cols ? begin + length : cols;
    unsigned         come = 0;
    if (high > low) come = copy_bulk(Entries(x, k) + (low - begin), x + low, high - low, arrival);
    arrive_expecting(arrival, come);
  }
};

/// The sums of a thread's rows, plane by plane.
template <int points, bool star> struct LineSums {
  static constexpr int ROWS   = LineWalk::ROWS;
  static constexpr int MIDDLE = points / 2;
  static constexpr int SIZE   = static_cast<int>(sizeof(Scalar));

  Scalar u[ROWS][points];
  Scalar sum[ROWS] = {}, next[ROWS] = {}; ///< of the rows before the plane that is read, and of its own

  /// The middle one of three neighbouring points, of which q is one.
  static __device__ __forceinline__ constexpr int LineOf(int q)
  {
    return points == 9 ? q / 3 * 3 + 1 : points == 5 && (q == 0 || q == 4) ? q : MIDDLE;
  }
  /// at: the address in shared memory of the place of the first row in the plane; `step` bytes from there to the next.
  __device__ __forceinline__ void Read(const StencilLines &lines, unsigned at, unsigned step)
  {
#pragma unroll
    for (int v = 0; v < ROWS; v++)
#pragma unroll
      for (int q = 0; q < points; q++)
        u[v][q] =
            load_at(at + v * step + static_cast<unsigned>(lines.offset[LineOf(q)] * SIZE), (q - LineOf(q)) * SIZE);
  }
  /// Points that are not in `has` are zero.
  __device__ __forceinline__ void Mask(int v, unsigned has)
  {
#pragma unroll
    for (int q = 0; q < points; q++)
      if (!(has >> q & 1)) u[v][q] = Scalar(0);
  }
  /// Of all rows: a coefficient is read once for them.
  __device__ __forceinline__ void Add(const StencilLines &lines, int group, Scalar (&to)[ROWS]) const
  {
#pragma unroll
    for (int q = 0; q < points; q++)
      if (!star || group == 1 || q == MIDDLE)
#pragma unroll
        for (int v = 0; v < ROWS; v++) to[v] += lines.value[group][q] * u[v][q];
  }
};

/// What a thread knows of one of its lines.
struct LineRows {
  unsigned has;   ///< StencilLines::bits
  PetscInt n;     ///< rows
  PetscInt mine;  ///< the same, -1 where there are none
  PetscInt whole; ///< the last plane, counted from that of the first row, whose points all exist where `full`

  template <unsigned full>
  __device__ __forceinline__ void Find(const StencilLines &lines, PetscInt rows, PetscInt slab, PetscInt place)
  {
    const LineWalk &walk = lines.walk;
    const PetscInt  left = place < walk.stride ? rows - slab * walk.length * walk.stride - place : 0;
    const PetscInt  most = left <= 0 ? 0 : (left - 1) / walk.stride + 1;
    n                    = most < walk.length ? most : walk.length;
    has                  = n ? lines.bits[slab * walk.stride + place] : 0;
    mine                 = has ? n : -1;
    whole                = (has & full) != full ? -1 : has & StencilLines::AFTER ? n : n - 1;
  }
  /// The points of plane k that exist.
  __device__ __forceinline__ unsigned In(PetscInt k) const { return k < n || has & StencilLines::AFTER ? has : 0; }
};

/// A thread on its way through the planes.
template <int points, bool star, class Epilogue> struct LineWalker {
  static constexpr int      ROWS = LineWalk::ROWS;
  static constexpr unsigned FULL = (1u << points) - 1;

  LineRows                 lines[ROWS];
  LineSums<points, star>   sums;
  typename Epilogue::Ahead ahead[ROWS];          ///< of the rows before
  PetscInt                 row, stride, threads; ///< the first of the rows; rows from one to the next, along and beside
  PetscInt                 whole, last;          ///< the last plane without a missing point, the last of all

  __device__ __forceinline__ void Begin(const StencilLines &shared, PetscInt rows, PetscInt slab, PetscInt place)
  {
    stride  = shared.walk.stride;
    threads = static_cast<PetscInt>(blockDim.x);
    row     = slab * shared.walk.length * stride + place;
    last    = -1;
#pragma unroll
    for (int v = 0; v < ROWS; v++) {
      lines[v].template Find<FULL>(shared, rows, slab, place + v * threads);
      whole = v == 0 || lines[v].whole < whole ? lines[v].whole : whole;
      last  = lines[v].mine > last ? lines[v].mine : last;
    }
  }
  /// The plane before the first rows has been read.
  __device__ __forceinline__ void TakeBefore(const StencilLines &shared)
  {
#pragma unroll
    for (int v = 0; v < ROWS; v++) sums.Mask(v, lines[v].has & StencilLines::BEFORE ? lines[v].has : 0);
    sums.Add(shared, 0, sums.next);
  }
  /// Plane k has been read: it completes the rows before.
  __device__ __forceinline__ void Take(const StencilLines &shared, PetscInt k, Epilogue *epilogue)
  {
    if (k > whole) {
#pragma unroll
      for (int v = 0; v < ROWS; v++) sums.Mask(v, lines[v].In(k));
    }
    if (k > 0) {
      sums.Add(shared, 2, sums.sum);
#pragma unroll
      for (int v = 0; v < ROWS; v++)
        if (k <= lines[v].mine) epilogue->Take(row - stride + v * threads, sums.sum[v], ahead[v]);
    }
#pragma unroll
    for (int v = 0; v < ROWS; v++) {
      if (k < lines[v].mine) ahead[v] = epilogue->Load(row + v * threads);
      sums.sum[v]  = sums.next[v];
      sums.next[v] = Scalar(0);
    }
    sums.Add(shared, 1, sums.sum);
    sums.Add(shared, 0, sums.next);
    row += stride;
  }
};

} // namespace sparsegpu::formats
