/// Rows that the lanes of a warp walk each by itself, read from memory by the warp together: lanes that load from 32
/// lines at a time keep the first-level cache busy for 32 turns a load.
#pragma once

#include "petsc/compat.hpp"

namespace sparsegpu
{

/// `rows` rows a lane, `width` entries of each at a time in shared memory. All lanes must call Begin() and Ready().
template <class T, int rows, int width> class RowWindows
{
public:
  struct Room { ///< of a warp, in shared memory
    PetscInt first[32 * rows], end[32 * rows];
    T        entry[32 * rows][width + 1]; ///< one more, so that lanes meet different banks
  };

  __device__ RowWindows(const T *from, Room *room) : from_(from), room_(room) {}

  /// Row p of this lane is the entries [first, end); before Begin().
  __device__ void Set(int p, PetscInt first, PetscInt end)
  {
    at_[p] = base_[p] = first;
    end_[p]           = end;
  }
  __device__ void Begin()
  {
    __syncwarp(); // the last reader of the room is done
#pragma unroll
    for (int p = 0; p < rows; p++) room_->end[Row(p)] = end_[p];
    Fetch();
  }
  /// Makes the next `need` entries of each row readable.
  __device__ void Ready(int need)
  {
    bool lacks = false;
#pragma unroll
    for (int p = 0; p < rows; p++) lacks |= at_[p] - base_[p] + need > width && end_[p] - base_[p] > width;
    if (__any_sync(0xffffffffu, lacks)) Fetch();
  }
  __device__ PetscInt Left(int p) const
  {
    return end_[p] - at_[p];
  }
  /// Entry q from here on of row p, where q < Left(p).
  __device__ T Get(int p, int q) const
  {
    return room_->entry[Row(p)][at_[p] - base_[p] + q];
  }
  /// By `count` entries, or to the end of the row.
  __device__ void Advance(int p, int count)
  {
    at_[p] += Left(p) < count ? static_cast<int>(Left(p)) : count;
  }

private:
  __device__ static int Row(int p)
  {
    return 32 * p + static_cast<int>(threadIdx.x % 32);
  }

  __device__ void Fetch()
  {
    constexpr int TOGETHER = 4, STEP = 32 / width; // rows a load
    static_assert(32 % width == 0 && rows * width % TOGETHER == 0, "whole turns");
    const int lane = static_cast<int>(threadIdx.x % 32), column = lane % width;
    __syncwarp();
#pragma unroll
    for (int p = 0; p < rows; p++) {
      base_[p]             = at_[p];
      room_->first[Row(p)] = at_[p];
    }
    __syncwarp();
    for (int row = lane / width; row < 32 * rows; row += TOGETHER * STEP) {
      T    v[TOGETHER];
      bool here[TOGETHER];
#pragma unroll
      for (int u = 0; u < TOGETHER; u++) {
        const PetscInt first = room_->first[row + u * STEP];
        here[u]              = column < room_->end[row + u * STEP] - first;
        if (here[u]) v[u] = from_[first + column];
      }
#pragma unroll
      for (int u = 0; u < TOGETHER; u++)
        if (here[u]) room_->entry[row + u * STEP][column] = v[u];
    }
    __syncwarp();
  }

  const T *from_;
  Room    *room_;
  PetscInt at_[rows], base_[rows], end_[rows];
};

} // namespace sparsegpu
