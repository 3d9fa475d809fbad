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
    Search(0);
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
  __device__ Number &At(int i, int j) const { return entry_[i + j * pitch_]; }

  /// The magnitude, of what is not a number none, as of -0, whose bits are above all others.
  __device__ static RealBits Bits(const Number &v)
  {
    const PetscReal size = Magnitude(v);
    return size > 0 ? BitsOf(size) : 0;
  }
  /// The largest entry of the lane's row beside its diagonal, in columns from `begin` on.
  __device__ void Search(int begin)
  {
    other_ = 0;
    at_    = lane_;
    if (lane_ >= size_ || lane_ < begin) return;
    for (int j = begin; j < lane_; j++) {
      const RealBits size = Bits(At(lane_, j));
      if (size <= other_) continue;
      other_ = size;
      at_    = j;
    }
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
  /// Brings the next pivot to place k; true: two, to k and k + 1, combined. What is not a number never wins.
  __device__ bool Choose(int k)
  {
    const bool     left = lane_ >= k && lane_ < size_;
    const RealBits own = left ? Bits(At(lane_, lane_)) : 0, diagonal = LargestOfWarp(own), most = LargestOfWarp(other_);
    const int      at = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, left && own == diagonal))) - 1;
    __syncwarp(); // all have read
    if (!(RealOf(diagonal) < DIAGONAL_SHARE * RealOf(most))) {
      Swap(k, at);
      return false;
    }
    const int row    = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, other_ == most))) - 1;
    const int column = __shfl_sync(ALL_LANES, at_, row);
    Swap(k, column);
    Swap(k + 1, row);
    Turn(k);
    return true;
  }
  /// Pivot k; looks for the next one on the way.
  __device__ void Eliminate(int k, const LuPivoting &P, PetscInt first, PivotTally *tally, Number *met)
  {
    const Number found = F_.PivotMet(At(k, k)), used = UsedPivot(found, P), inverse = Inverse(used);
    const bool   below = lane_ > k && lane_ < size_;
    const Number l     = below ? At(lane_, k) * inverse : Number(0);
    __syncwarp(); // all have read the pivot
    if (lane_ == k) {
      tally->Count(found, used, P, first + k);
      *met     = found;
      At(k, k) = used;
    }
    if (below) {
      other_ = 0;
      at_    = lane_;
#pragma unroll 4
      for (int j = k + 1; j < size_; j++) {
        const Number   v    = At(lane_, j) - l * At(k, j);
        const RealBits size = Bits(v);
        At(lane_, j)        = v;
        if (j < lane_ && size > other_) {
          other_ = size;
          at_    = j;
        }
      }
      At(lane_, k) = l;
    } else {
      other_ = 0;
    }
    __syncwarp();
  }

  const DeviceFront<Number> &F_;
  Number                    *entry_;
  int                        pitch_, size_, lane_;
  int                        row_ = 0, code_ = 0;
  RealBits                   other_ = 0; ///< magnitude of the largest entry of the lane's row beside its diagonal
  int                        at_    = 0; ///< its column
};
} // namespace

} // namespace sparsegpu::lu
