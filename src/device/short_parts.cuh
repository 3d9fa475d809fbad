/// Factors of products of single precision split into TF32 numbers (split_short.cuh), so that one product forms all
/// three, one after the other along k.
#pragma once

#include <algorithm>
#include "device/cuda_check.hpp"
#include "device/split_short.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Which of the three parts of a factor is the low one, the others being the high one: so the product of parts has
/// low * high, high * low, and high * high, in this order.
enum class LowPart {
  First,
  Second
};

/// A column of parts, as tensor cores read them: depth entries of each, one part after the other.
struct ShortColumns {
  float     *at;
  PetscCount depth;
  LowPart    low;

  __device__ void Store(PetscCount k, PetscCount column, float v) const
  {
    unsigned     bits[2];
    float *const to = at + k + 3 * depth * column;
    SplitShort(v, bits, bits + 1);
    const float high = __uint_as_float(bits[0]), rest = __uint_as_float(bits[1]);
    to[0]         = low == LowPart::First ? rest : high;
    to[depth]     = low == LowPart::First ? high : rest;
    to[2 * depth] = high;
  }
};

/// Columns of from [depth x count]: a thread has an entry, blockIdx.y the column.
static __global__ void split_columns_kernel(PetscInt count, const float *from, PetscCount ld, ShortColumns to)
{
  const PetscCount k = static_cast<PetscCount>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= to.depth) return;
  for (PetscCount j = blockIdx.y; j < count; j += gridDim.y) to.Store(k, j, from[k + j * ld]);
}
/// Rows of from [count x depth], 32 of them, and 32 columns, a block of 32 x 8.
static __global__ void split_rows_kernel(PetscInt count, const float *from, PetscCount ld, ShortColumns to)
{
  __shared__ float entry[32][33];
  const int        x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const PetscCount i0 = static_cast<PetscCount>(blockIdx.x) * 32, k0 = static_cast<PetscCount>(blockIdx.y) * 32;

  for (int c = y; c < 32; c += 8)
    if (i0 + x < count && k0 + c < to.depth) entry[c][x] = from[i0 + x + (k0 + c) * ld];
  __syncthreads();
  for (int r = y; r < 32; r += 8)
    if (i0 + r < count && k0 + x < to.depth) to.Store(k0 + x, i0 + r, entry[x][r]);
}

/// to [3 depth x count] from `from` [depth x count], or [count x depth] if `rows`, columns ld apart.
static inline PetscErrorCode SplitShortFactor(bool rows, PetscInt count, const float *from, PetscCount ld,
                                              const ShortColumns &to, cudaStream_t stream)
{
  constexpr unsigned THREADS = 256, MOST = 65535; // of a block; of the grid's second extent
  const auto         parts = [](PetscCount n, unsigned size) { return static_cast<unsigned>((n + size - 1) / size); };

  PetscFunctionBegin;
  if (rows)
    split_rows_kernel<<<dim3(parts(count, 32), parts(to.depth, 32)), dim3(32, 8), 0, stream>>>(count, from, ld, to);
  else
    split_columns_kernel<<<dim3(parts(to.depth, THREADS), std::min(static_cast<unsigned>(count), MOST)), THREADS, 0,
                           stream>>>(count, from, ld, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
