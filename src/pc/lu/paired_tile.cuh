/// A tile of a symmetric indefinite matrix with pivots of order 1 and 2 (pairs.hpp), by one warp in shared memory: lane
/// r has row r. All of it must call.
#pragma once

#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

/// The lane that has the other one of a pair's rows, or the own one.
__device__ __forceinline__ int PartnerLane(int code)
{
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return code > 0 ? lane + 1 : code < 0 ? lane - 1 : lane;
}
/// Entry v of the lane's row of a tile of vectors, in pairs as G^H v, or G v if `back`. Of all lanes.
template <bool back, class Number> __device__ __forceinline__ Number TurnLanes(int code, const Number &v)
{
  const Number other = shuffle(v, PartnerLane(code) & 31);
  if (code == 0) return v;
  return back ? TurnedBack(code, v, other) : Turned(code, v, other);
}

namespace
{
/// Both triangles of the tile [size x size], entry (i, j) at entry[i + j * pitch].
template <class Number> class PairedTile
{
public:
  __device__ PairedTile(const DeviceFront<Number> &F, Number *entry, int pitch, int size)
      : F_(F),
        entry_(entry),
        pitch_(pitch),
        size_(size),
        lane_(static_cast<int>(threadIdx.x) % 32)
  {
  }
  /// The upper triangle from the lower one.
  __device__ void Mirror()
  {
    for (int j = 0; j < size_; j++)
      if (lane_ > j && lane_ < size_) At(j, lane_) = F_.Mirrored(At(lane_, j));
    __syncwarp();
  }
  /// L below the diagonal, D on it, U = D L^T, or D L^H, above it. Of the lane's pivot: *row: which of the tile's rows
  /// it was, *code: PairCode, *met: as it was before it was replaced.
  __device__ void Factor(const LuPivoting &P, PetscInt first, PivotTally *tally, int *row, int *code, Number *met)
  {
    row_  = lane_;
    code_ = 0;
    Search();
    for (int k = 0; k < size_;) {
      const bool pair = Choose(k);
      Eliminate(k, P, first, tally, met);
      if (pair) Eliminate(k + 1, P, first, tally, met);
      k += pair ? 2 : 1;
    }
    *row  = row_;
    *code = code_;
  }

private:
  static constexpr double NEARLY = 0.95; ///< of the largest entry: a pair's bound of multipliers hardly grows

  __device__ Number &At(int i, int j) const { return entry_[i + j * pitch_]; }

  /// Bits that order as magnitudes do, but for the last of 16 or 18 of the mantissa, with a column in the lowest five.
  __device__ static unsigned KeyOf(const Number &v, int column)
  {
    const auto size = LargestPart(v);
    unsigned   high;
    if constexpr (sizeof(size) == sizeof(double))
      high = static_cast<unsigned>(__double2hiint(size));
    else
      high = static_cast<unsigned>(__float_as_int(static_cast<float>(size)));
    return (high & ~31u) | static_cast<unsigned>(column);
  }
  /// The largest entry of the lane's row beside its diagonal.
  __device__ void Search()
  {
    other_ = 0;
    if (lane_ < size_)
      for (int j = 0; j < lane_; j++) other_ = max(other_, KeyOf(At(lane_, j), j));
  }
  __device__ void Swap(int a, int b)
  {
    if (a == b) return; // the same in all lanes
    const bool mine = lane_ < size_;
    if (mine) {
      const Number v = At(lane_, a);
      At(lane_, a)   = At(lane_, b);
      At(lane_, b)   = v;
    }
    __syncwarp();
    if (mine) {
      const Number v = At(a, lane_);
      At(a, lane_)   = At(b, lane_);
      At(b, lane_)   = v;
    }
    row_ = __shfl_sync(ALL_LANES, row_, lane_ == a ? b : lane_ == b ? a : lane_);
    __syncwarp();
  }
  __device__ void Turn(int k)
  {
    const int code = BestPair(F_.shape == Shape::Hermitian, At(k, k), At(k, k + 1), At(k + 1, k), At(k + 1, k + 1));
    __syncwarp();
    if (lane_ < size_) {
      const Number a = At(lane_, k), b = At(lane_, k + 1);
      At(lane_, k)     = TurnedColumn(code, a, b);
      At(lane_, k + 1) = TurnedColumn(-code, b, a);
    }
    __syncwarp();
    if (lane_ < size_) {
      const Number a = At(k, lane_), b = At(k + 1, lane_);
      At(k, lane_)     = Turned(code, a, b);
      At(k + 1, lane_) = Turned(-code, b, a);
    }
    __syncwarp();
    if (lane_ == k) code_ = code;
    if (lane_ == k + 1) code_ = -code;
  }
  /// Brings the next pivot to place k; true: two, to k and k + 1, combined. Those that are there already are taken
  /// where they are large enough.
  __device__ bool Choose(int k)
  {
    const bool     left = lane_ >= k && lane_ < size_;
    const unsigned own = left ? KeyOf(At(lane_, lane_), 0) : 0, diagonal = __reduce_max_sync(ALL_LANES, own);
    const unsigned most  = __reduce_max_sync(ALL_LANES, other_);
    const double   limit = Size(most) * DIAGONAL_SHARE;
    if (!(Size(diagonal) < limit)) {
      const unsigned first = __shfl_sync(ALL_LANES, own, k);
      const int      at    = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, left && own == diagonal))) - 1;
      if (Size(first) < limit) Swap(k, at);
      return false;
    }
    // the diagonal of both is less than the limit, and so small against an entry that is hardly less than the largest
    const unsigned next = __shfl_sync(ALL_LANES, other_, k + 1 < size_ ? k + 1 : k);
    const bool     here = (next & 31u) == static_cast<unsigned>(k) && Size(next) >= Size(most) * NEARLY;
    if (!here) {
      const int row = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, left && other_ == most))) - 1;
      Swap(k, static_cast<int>(most & 31u));
      Swap(k + 1, row);
    }
    Turn(k);
    return true;
  }
  /// About what a key stands for.
  __device__ static double Size(unsigned key)
  {
    if constexpr (sizeof(decltype(LargestPart(Number(0)))) == sizeof(double))
      return __hiloint2double(static_cast<int>(key & ~31u), 0);
    else
      return static_cast<double>(__int_as_float(static_cast<int>(key & ~31u)));
  }
  /// Pivot k; looks for the next one on the way.
  __device__ void Eliminate(int k, const LuPivoting &P, PetscInt first, PivotTally *tally, Number *met)
  {
    const Number found = F_.PivotMet(At(k, k)), used = UsedPivot(found, P), inverse = Inverse(used);
    const bool   below = lane_ > k && lane_ < size_;
    const Number l     = below ? At(lane_, k) * inverse : Number(0);
    unsigned     other = 0;
    __syncwarp(); // all have read the pivot
    if (lane_ == k) {
      tally->Count(found, used, P, first + k);
      *met     = found;
      At(k, k) = used;
    }
    if (below) {
#pragma unroll 8
      for (int j = k + 1; j < size_; j++) {
        const Number v = At(lane_, j) - l * At(k, j);
        At(lane_, j)   = v;
        other          = max(other, j < lane_ ? KeyOf(v, j) : 0u);
      }
      At(lane_, k) = l;
    }
    other_ = other;
    __syncwarp();
  }

  const DeviceFront<Number> &F_;
  Number                    *entry_;
  int                        pitch_, size_, lane_;
  int                        row_ = 0, code_ = 0;
  unsigned                   other_ = 0; ///< KeyOf() the largest entry of the lane's row beside its diagonal
};
} // namespace

} // namespace sparsegpu::lu
