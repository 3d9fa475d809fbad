/// The rows that a thread block has for all iterations of a cooperative launch: its part of A, in shared memory if it
/// fits. All threads of a block call these, SMALL_THREADS of them.
#pragma once

#include "device/batched.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "ksp/common/names.hpp"
#include "mat/formats/csr/csr.hpp"

namespace sparsegpu::ksp
{

constexpr int SMALL_THREADS = 512, SMALL_WARPS = SMALL_THREADS / 32;

struct SmallMatrix {
  const PetscInt *i; ///< [count + 1] from 0
  const PetscInt *j; ///< [i[count]]
  const Scalar   *a; ///< [i[count]]
};

/// Rounds up to the alignment of every part of the shared memory.
inline __host__ __device__ size_t small_aligned(size_t bytes)
{
  return (bytes + 15) / 16 * 16;
}

/// Rows first .. first + count - 1 of A, none where count is zero, in `bytes` bytes of shared memory, or as much of
/// them as fits; the offsets of `most` rows do.
__device__ __forceinline__ SmallMatrix take_matrix(const CsrLayout &A, PetscInt first, PetscInt count, PetscInt most,
                                                   unsigned char *shared, size_t bytes)
{
  const PetscInt  begin = count ? A.i[first] : 0, entries = count ? A.i[first + count] - begin : 0;
  PetscInt *const i = reinterpret_cast<PetscInt *>(shared), *const j = i + most + 1;
  const size_t for_pattern =
      small_aligned((static_cast<size_t>(most) + 1 + static_cast<size_t>(entries)) * sizeof(PetscInt));
  SmallMatrix rows{i, A.j + begin, A.a + begin};

  if (for_pattern + static_cast<size_t>(entries) * sizeof(Scalar) <= bytes) {
    Scalar *const a = reinterpret_cast<Scalar *>(shared + for_pattern);
    for (PetscInt e = threadIdx.x; e < entries; e += SMALL_THREADS) {
      a[e] = A.a[begin + e];
      j[e] = A.j[begin + e];
    }
    rows.j = j;
    rows.a = a;
  }
  for (PetscInt r = threadIdx.x; r <= count; r += SMALL_THREADS) i[r] = count ? A.i[first + r] - begin : 0;
  __syncthreads();
  return rows;
}

/// done(r, the product of row r with load(column)) for `count` rows; `lanes` neighbouring threads share a row.
template <class Load, class Done> __device__ __forceinline__ void small_product_with(const SmallMatrix &rows,
                                                                                     PetscInt count, int lanes,
                                                                                     Load load, Done done)
{
  const PetscInt at_once = SMALL_THREADS / lanes;
  const int      lane    = static_cast<int>(threadIdx.x) % lanes;

  for (PetscInt begin = 0; begin < count; begin += at_once) { // together, as lanes exchange sums
    const PetscInt r = begin + static_cast<PetscInt>(threadIdx.x) / lanes;
    Scalar         sum(0);
    if (r < count)
      sum = batched_sum<4>(
          rows.i[r] + lane, rows.i[r + 1], lanes, [&](PetscInt e) { return rows.a[e]; },
          [&](PetscInt e) { return rows.j[e]; }, load);
    for (int mask = lanes / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask, 32);
    if (r < count && lane == 0) done(r, sum);
  }
}
/// The same with x, which has been written by other blocks.
template <class Done> __device__ __forceinline__ void small_product(const SmallMatrix &rows, PetscInt count, int lanes,
                                                                    const Scalar *x, Done done)
{
  small_product_with(
      rows, count, lanes, [&](PetscInt j) { return load_shared(x + j); }, done);
}

/// Threads that share a row, of `rows` rows a block with `mean` entries each: a power of two.
inline int SmallLanes(PetscInt rows, PetscReal mean)
{
  int lanes = 1;

  while (lanes < 32 && 2 * lanes * rows <= SMALL_THREADS && 4 * lanes <= mean) lanes *= 2;
  return lanes;
}

} // namespace sparsegpu::ksp
