/// The values of C = A B where C's pattern is known. Sums lie in shared memory where a row of C is short enough, else
/// in C itself. No two lanes add to one sum, and each sum is made in a fixed order: the bits repeat.
#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "mat/products/multiply.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

namespace
{
constexpr int      BATCH       = 4;                      ///< entries of A that a lane has in flight
constexpr PetscInt SHARED_SUMS = 32768 / sizeof(Scalar); ///< of a block: leaves room for six on a multiprocessor

struct Arguments {
  PetscInt        rows;
  CsrArrays       a, b;
  const PetscInt *i, *j; ///< of C
  Scalar         *c;
  int            *lost; ///< may be null
};

__device__ __forceinline__ PetscReal from_lane(unsigned mask, PetscReal v, int lane, int width)
{
  return __shfl_sync(mask, v, lane, width);
}
#if defined(PETSC_USE_COMPLEX)
__device__ __forceinline__ Scalar from_lane(unsigned mask, Scalar v, int lane, int width)
{
  return Scalar(__shfl_sync(mask, v.re, lane, width), __shfl_sync(mask, v.im, lane, width));
}
#endif

/// sum[place of the column] += v, of a row of C that begins at `begin`.
__device__ __forceinline__ void add_term(const Arguments &p, PetscInt begin, PetscInt length, PetscInt column,
                                         const Scalar &v, Scalar *sum, int stride)
{
  const PetscInt at = find_column(p.j, begin, begin + length, column);
  if (at >= 0)
    sum[(at - begin) * stride] += v;
  else if (p.lost)
    *p.lost = 1;
}

/// The terms of entries of A are added to `sum` [length] of a row of C, whose columns are j [length]: of `width` of
/// every `step` entries from `first` to end - 1, by `width` neighbouring lanes. Those entries are taken in turn, and
/// the entries of B's row, whose columns differ, side by side.
template <int width> __device__ __forceinline__ void add_terms(const Arguments &p, unsigned mask, int lane,
                                                               PetscInt first, PetscInt end, PetscInt step,
                                                               const PetscInt *j, PetscInt length, Scalar *sum)
{
  Arguments of_row = p;
  of_row.j         = j;
  for (; first < end; first += step) {
    const bool     has   = first + lane < end;
    const int      count = end - first < width ? static_cast<int>(end - first) : width;
    const PetscInt k = has ? p.a.j[first + lane] : 0, b = has ? p.b.i[k] : 0, b_end = has ? p.b.i[k + 1] : 0;
    const Scalar   a = has ? p.a.a[first + lane] : Scalar(0);
    // the next row of B is read before this one is added
    PetscInt q = __shfl_sync(mask, b, 0, width) + lane, q_end = __shfl_sync(mask, b_end, 0, width);
    PetscInt column = q < q_end ? p.b.j[q] : -1;
    Scalar   v      = q < q_end ? p.b.a[q] : Scalar(0);
    for (int t = 0; t < count; t++) {
      const Scalar   factor = from_lane(mask, a, t, width);
      const int      after  = t + 1 < width ? t + 1 : 0;
      const PetscInt n = __shfl_sync(mask, b, after, width) + lane, n_end = __shfl_sync(mask, b_end, after, width);
      const bool     more        = t + 1 < count && n < n_end;
      const PetscInt next_column = more ? p.b.j[n] : -1;
      const Scalar   next_v      = more ? p.b.a[n] : Scalar(0);
      if (column >= 0) add_term(of_row, 0, length, column, factor * v, sum, 1);
      for (q += width; q < q_end; q += width) add_term(of_row, 0, length, p.b.j[q], factor * p.b.a[q], sum, 1);
      __syncwarp(mask); // the next row of B may add to the same sums
      q      = n;
      q_end  = n_end;
      column = next_column;
      v      = next_v;
    }
  }
}

/// `width` neighbouring lanes make a row of C. `capacity` sums of a row fit its shared memory.
template <int width> __global__ void __launch_bounds__(THREADS, 6) rows_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  const PetscCount          row   = thread_index() / width;
  const int                 lane  = threadIdx.x % width;
  const unsigned            group = threadIdx.x / width;
  const unsigned mask = (width == 32 ? 0xffffffffu : ((1u << width) - 1) << (threadIdx.x % 32 / width * width));

  if (row >= p.rows) return;
  const PetscInt begin = p.i[row], length = p.i[row + 1] - begin;
  const bool     local = length <= capacity;
  Scalar *const  sum   = local ? reinterpret_cast<Scalar *>(memory) + group * capacity : p.c + begin;
  for (PetscInt k = lane; k < length; k += width) sum[k] = Scalar(0);
  __syncwarp(mask);
  add_terms<width>(p, mask, lane, p.a.i[row], p.a.i[row + 1], width, p.j + begin, length, sum);
  if (!local) return;
  for (PetscInt k = lane; k < length; k += width) p.c[begin + k] = sum[k];
}

/// A block makes a row of C, for long rows of A, as those of a transposed prolongator, and where rows are few: each
/// group of `width` lanes has sums of its own for its part of the entries, and these are added in the groups' order.
/// Columns and sums of all groups lie in shared memory: rows of C have at most `capacity` entries.
template <int width> __global__ void __launch_bounds__(THREADS) long_rows_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  const PetscInt            groups = static_cast<PetscInt>(blockDim.x) / width, threads = groups * width;
  const PetscInt            row  = static_cast<PetscInt>(blockIdx.x);
  const int                 lane = threadIdx.x % width;
  const PetscInt            t = static_cast<PetscInt>(threadIdx.x), group = t / width;
  const unsigned mask  = (width == 32 ? 0xffffffffu : ((1u << width) - 1) << (threadIdx.x % 32 / width * width));
  const PetscInt begin = p.i[row], length = p.i[row + 1] - begin, first = p.a.i[row], end = p.a.i[row + 1];
  const PetscInt each = (end - first + groups - 1) / groups, mine = first + group * each;
  Scalar *const sums = reinterpret_cast<Scalar *>(memory), *const sum = sums + group * length;
  PetscInt *const column = reinterpret_cast<PetscInt *>(sums + groups * capacity);

  for (PetscInt k = t; k < groups * length; k += threads) sums[k] = Scalar(0);
  for (PetscInt k = t; k < length; k += threads) column[k] = p.j[begin + k];
  __syncthreads();
  add_terms<width>(p, mask, lane, mine, end - mine < each ? end : mine + each, width, column, length, sum);
  __syncthreads();
  for (PetscInt k = t; k < length; k += threads) {
    Scalar all(0);
    for (PetscInt g = 0; g < groups; g++) all += sums[g * length + k];
    p.c[begin + k] = all;
  }
}

/// c[k] = the sums [length][width] of entry k of all lanes of a group, in their order.
template <int width>
__device__ __forceinline__ void add_lanes(unsigned mask, PetscInt length, int lane, const Scalar *sums, Scalar *c)
{
  __syncwarp(mask);
  for (PetscInt k = lane; k < length; k += width) {
    Scalar sum(0);
    for (int l = 0; l < width; l++) sum += sums[k * width + l];
    c[k] = sum;
  }
}

/// For rows of B of an entry or two, as of interpolation that is constant on aggregates: `width` neighbouring lanes
/// make a row of C, each with sums of its own for the entries of A's row that it takes; these are added in the lanes'
/// order. Rows of C have at most `capacity` entries.
template <int width> __global__ void __launch_bounds__(THREADS) short_rows_kernel(Arguments p, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  const PetscCount          row   = thread_index() / width;
  const int                 lane  = threadIdx.x % width;
  const unsigned            group = threadIdx.x / width;
  const unsigned            mask  = ((1u << width) - 1) << (threadIdx.x % 32 / width * width);

  if (row >= p.rows) return;
  const PetscInt begin = p.i[row], length = p.i[row + 1] - begin;
  Scalar *const sums = reinterpret_cast<Scalar *>(memory) + group * capacity * width, *const mine = sums + lane;
  for (PetscInt k = 0; k < length; k++) mine[k * width] = Scalar(0);
  for (PetscInt e = p.a.i[row] + lane; e < p.a.i[row + 1]; e += width) {
    const PetscInt j = p.a.j[e];
    const Scalar   a = p.a.a[e];
    for (PetscInt q = p.b.i[j]; q < p.b.i[j + 1]; q++) add_term(p, begin, length, p.b.j[q], a * p.b.a[q], mine, width);
  }
  add_lanes<width>(mask, length, lane, sums, p.c + begin);
}

/// The same where each row of B has one entry, and the place of its term is known. The loads of a batch of entries are
/// in flight together, also at the end of a row.
template <int width> __global__ void __launch_bounds__(THREADS)
    unit_rows_kernel(Arguments p, const unsigned char *place, PetscInt capacity)
{
  extern __shared__ double2 memory[];
  const PetscCount          row   = thread_index() / width;
  const int                 lane  = threadIdx.x % width;
  const unsigned            group = threadIdx.x / width;
  const unsigned            mask  = ((1u << width) - 1) << (threadIdx.x % 32 / width * width);

  if (row >= p.rows) return;
  const PetscInt begin = p.i[row], length = p.i[row + 1] - begin, end = p.a.i[row + 1];
  Scalar *const sums = reinterpret_cast<Scalar *>(memory) + group * capacity * width, *const mine = sums + lane;
  for (PetscInt k = 0; k < length; k++) mine[k * width] = Scalar(0);
  for (PetscInt first = p.a.i[row] + lane; first < end; first += BATCH * width) {
    PetscInt j[BATCH];
    unsigned at[BATCH];
    Scalar   term[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const PetscInt e   = first + k * width;
      const bool     has = e < end;
      j[k]               = has ? p.a.j[e] : -1;
      at[k]              = has ? place[e] : 0;
      term[k]            = has ? p.a.a[e] : Scalar(0);
    }
#pragma unroll
    for (int k = 0; k < BATCH; k++)
      if (j[k] >= 0) term[k] = term[k] * p.b.a[j[k]];
#pragma unroll
    for (int k = 0; k < BATCH; k++)
      if (j[k] >= 0) mine[at[k] * width] += term[k];
  }
  add_lanes<width>(mask, length, lane, sums, p.c + begin);
}

/// Bytes of shared memory that a block of so many groups of long_rows_kernel() needs for rows of C of that length.
constexpr size_t LongRoom(PetscInt groups, PetscInt length)
{
  return static_cast<size_t>(length) * (static_cast<size_t>(groups) * sizeof(Scalar) + sizeof(PetscInt));
}

/// Threads of the block that makes a row of C, where A's rows have `mean` entries: all where these have enough to do,
/// and as many as fill a GPU where rows are few; 0: rows are not a block's. It depends on the sizes alone, as the order
/// of sums does.
PetscInt BlockOfRow(PetscInt rows, PetscInt mean)
{
  constexpr PetscInt LONG = 128, FULL = 262144; // entries; threads
  if (mean >= LONG) return THREADS;
  for (PetscInt threads = THREADS; threads >= 64; threads /= 2)
    if (rows <= FULL / threads && 4 * mean >= threads) return threads;
  return 0;
}

template <int width> PetscErrorCode Launch(const Arguments &p, PetscInt longest, PetscInt block, cudaStream_t stream)
{
  constexpr PetscInt GROUPS   = THREADS / width;
  constexpr size_t   ROOM     = 49152; ///< what a block may have without being asked for
  const PetscInt     capacity = std::min(longest, SHARED_SUMS / GROUPS);
  const size_t       room     = LongRoom(block / width, longest);

  PetscFunctionBegin;
  if (block && room <= ROOM) {
    long_rows_kernel<width><<<static_cast<unsigned>(p.rows), static_cast<unsigned>(block), room, stream>>>(p, longest);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (width < 32) // fewer groups
    if (block && LongRoom(block / 32, longest) <= ROOM) {
      PetscCall(Launch<2 * width>(p, longest, block, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  rows_kernel<width>
      <<<Blocks(static_cast<PetscCount>(p.rows) * width), THREADS, GROUPS * capacity * sizeof(Scalar), stream>>>(
          p, capacity);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MultiplyValues_CUDA(const SparseRows &A, const SparseRows &B, const SparseRows &C, PetscInt longest,
                                   const unsigned char *place, Scalar *c, int *lost)
{
  constexpr int   SHORT = 8; ///< lanes a row
  const Arguments p{A.rows, A.arrays, B.arrays, C.arrays.i, C.arrays.j, c, lost};
  const PetscInt  block = A.rows ? BlockOfRow(A.rows, A.nonzeros / A.rows) : 0;
  const PetscReal mean  = B.rows ? static_cast<PetscReal>(B.nonzeros) / static_cast<PetscReal>(B.rows) : 0;
  Stream          stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (A.rows == 0 || longest == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const unsigned blocks = Blocks(static_cast<PetscCount>(A.rows) * SHORT);
  const size_t   memory = THREADS * longest * sizeof(Scalar);
  if (place && longest <= SHARED_SUMS / THREADS) {
    unit_rows_kernel<SHORT><<<blocks, THREADS, memory, s>>>(p, place, longest);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  } else if (mean <= 2 && longest <= SHARED_SUMS / THREADS) {
    short_rows_kernel<SHORT><<<blocks, THREADS, memory, s>>>(p, longest);
    SparseGPUCallCUDA(cudaPeekAtLastError());
  } else if (mean <= 6) {
    PetscCall(Launch<4>(p, longest, block, s));
  } else if (mean <= 12) {
    PetscCall(Launch<8>(p, longest, block, s));
  } else if (mean <= 24) {
    PetscCall(Launch<16>(p, longest, block, s));
  } else {
    PetscCall(Launch<32>(p, longest, block, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
