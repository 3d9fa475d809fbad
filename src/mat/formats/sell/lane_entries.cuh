/// Rows that the lanes of a warp process one each, loaded by the warp together.
#pragma once

#include "device/grid.cuh"
#include "device/row_windows.cuh"

namespace sparsegpu::formats
{

constexpr int GROUP = 4; ///< entries of a row that are loaded together, before any of them is stored

/// A lane's row: its first entry and its length.
struct LaneRow {
  PetscInt first;
  int      length;
};

/// The entries of a lane's row, GROUP at a time: of rows that follow each other and are short, all are copied to shared
/// memory at once, of others a window. All lanes of the warp must call.
template <class T> class LaneEntries
{
  using Windows                    = RowWindows<T, 1, 8>;
  static constexpr PetscInt STAGED = 4096 / static_cast<PetscInt>(sizeof(T));

public:
  static constexpr size_t ROOM =
      (PetscMax(STAGED * sizeof(T), sizeof(typename Windows::Room)) + 15) / 16 * 16; ///< bytes

  /// `room`: of the warp. Rows that follow each other have the entries [begin, end); 0 for both where rows lie apart.
  __device__ LaneEntries(const T *from, const LaneRow &row, PetscInt begin, PetscInt end, unsigned char *room)
      : windows_(from, reinterpret_cast<typename Windows::Room *>(room)),
        row_(row)
  {
    if (begin < end && end - begin <= STAGED) {
      T *all = reinterpret_cast<T *>(room);
      for (PetscInt e = begin + static_cast<PetscInt>(threadIdx.x % 32); e < end; e += 32) all[e - begin] = from[e];
      __syncwarp();
      all_ = all - begin;
    } else {
      windows_.Set(0, row.first, row.first + row.length);
      windows_.Begin();
    }
  }
  /// v[q] = entry group + q, of those there are; groups in turn.
  __device__ void Load(PetscInt group, T (&v)[GROUP])
  {
    if (!all_) windows_.Ready(GROUP);
#pragma unroll
    for (int q = 0; q < GROUP; q++)
      if (group + q < row_.length) v[q] = all_ ? all_[row_.first + group + q] : windows_.Get(0, q);
    if (!all_) windows_.Advance(0, GROUP);
  }

private:
  Windows  windows_;
  LaneRow  row_;
  const T *all_ = nullptr;
};

/// For the warps of a block.
template <class T> struct alignas(16) BlockRoom {
  unsigned char of_warp[THREADS / 32][LaneEntries<T>::ROOM];
};

} // namespace sparsegpu::formats
