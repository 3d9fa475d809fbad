/// The rows of a walk whose other entries come from other ranks; see GhostPlanes.
#pragma once

#include "mat/formats/stencil/line_walker.cuh"

namespace sparsegpu::formats
{

/// Those of a thread block that walks from row `begin` of a plane on. The sums of rows of the first plane are kept in
/// shared memory while the block walks, as entries of other ranks are awaited at its end alone; those of the last plane
/// are the last that it has. A row's entries of its own rank and those of others are summed apart, then added.
struct GhostRows {
  const StencilLines *lines;
  unsigned char      *planes; ///< what the block has of shared memory
  PetscInt            rows, slab, begin;

  /// Whether there are such rows in the block's part of the first plane, of the last one.
  __device__ __forceinline__ bool Has(int end) const
  {
    return lines->ghosts.any[end] && (end ? lines->walk.IsLast(slab, rows) : slab == 0);
  }
  /// Where the thread keeps the sum of its first row; those of the next ones are blockDim.x behind.
  __device__ __forceinline__ Scalar *Kept() const
  {
    return reinterpret_cast<Scalar *>(planes + lines->PlaneBytes() * StencilLines::STAGES) + threadIdx.x;
  }
  /// After the second plane.
  template <class Sums> __device__ __forceinline__ void Keep(const Sums &sums) const
  {
#pragma unroll
    for (int v = 0; v < LineWalk::ROWS; v++) Kept()[v * blockDim.x] = sums.sum[v];
  }
  /// The entries received that the block reads for its part of a plane, to shared memory. By all threads.
  template <class Epilogue> __device__ __forceinline__ void Fetch(int end, Scalar *to, const Epilogue &epilogue) const
  {
    constexpr int  AHEAD   = 4; // of a thread, on their way together
    const PetscInt threads = static_cast<PetscInt>(blockDim.x), length = threads * LineWalk::ROWS + lines->Reach();
    const PetscInt first = lines->ghosts.first[end] + begin + lines->offset[0], all = epilogue.Receives();

    __syncthreads(); // the planes have been read
    for (PetscInt from = 0; from < length; from += AHEAD * threads) {
      Scalar v[AHEAD];
#pragma unroll
      for (int q = 0; q < AHEAD; q++) {
        const PetscInt n = from + q * threads + static_cast<PetscInt>(threadIdx.x);
        v[q]             = n < length && first + n >= 0 && first + n < all ? epilogue.Received(first + n) : Scalar(0);
      }
#pragma unroll
      for (int q = 0; q < AHEAD; q++) {
        const PetscInt n = from + q * threads + static_cast<PetscInt>(threadIdx.x);
        if (n < length) to[n] = v[q];
      }
    }
    __syncthreads();
  }
  /// All of them. By all threads, after the last plane.
  template <int points, bool star, class Epilogue>
  __device__ __forceinline__ void Take(const LineWalker<points, star, Epilogue> &walker, const Scalar *x,
                                       Epilogue *epilogue) const
  {
    constexpr int  ROWS = LineWalk::ROWS, MIDDLE = points / 2;
    Scalar *const  plane   = reinterpret_cast<Scalar *>(planes);
    const PetscInt threads = static_cast<PetscInt>(blockDim.x), place = begin + static_cast<PetscInt>(threadIdx.x);
    bool           came = true;

    if (Has(0) || Has(1)) came = epilogue->Await();
#pragma unroll 1
    for (int end = 0; end < 2; end++) {
      const unsigned bit = end ? StencilLines::GHOSTS_AFTER : StencilLines::GHOSTS_BEFORE;
      if (!Has(end)) continue;
      Fetch(end, plane, *epilogue);
#pragma unroll
      for (int v = 0; v < ROWS; v++) {
        const unsigned has = walker.lines[v].has;
        const PetscInt at  = static_cast<PetscInt>(threadIdx.x) + v * threads - lines->offset[0],
                       row = (end ? rows - lines->walk.stride : 0) + place + v * threads;
        Scalar sum         = Scalar(0);
        if (!(has & bit)) continue;
#pragma unroll
        for (int q = 0; q < points; q++)
          if ((!star || q == MIDDLE) && has >> q & 1)
            sum = multiply_add(lines->value[end ? 2 : 0][q], plane[at + lines->offset[q]], sum);
        sum = (end ? walker.sums.sum[v] : Kept()[v * threads]) + sum;
        epilogue->Take(row, came ? sum : Epilogue::Lost(), epilogue->Load(row, x[row]));
      }
    }
  }
};

} // namespace sparsegpu::formats
