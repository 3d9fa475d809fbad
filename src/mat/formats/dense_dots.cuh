/// The inner products of a product with several columns, as the end of a kernel that has one thread a row; see
/// dense.hpp.
#pragma once

#include "device/grid.cuh"
#include "device/load.cuh"
#include "device/segmented.cuh"
#include "mat/formats/dense.hpp"
#include "mat/formats/dots.hpp"

namespace sparsegpu::formats
{

static_assert(THREADS >= 256, "DenseDotsRoom() counts on blocks of 256 rows or more");

/// The least power of two that is not below n.
constexpr int PowerAbove(int n)
{
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

/// What thread t < columns * DOTS has of sums over the block, in a fixed order: sum t % DOTS of column t / DOTS. A
/// column's sums are added up by as many lanes of a warp as there are for it: with each step half of the columns go to
/// the other half of the lanes. All threads of THREADS must call.
template <int columns> __device__ __forceinline__ PetscReal column_sums(PetscReal (&v)[columns][DOTS])
{
  constexpr int        ALL = PowerAbove(columns), LANES = 32 / ALL; // lanes of a column at the end
  __shared__ PetscReal warps[THREADS / 32][ALL * DOTS];
  const int            lane = threadIdx.x % 32;
  PetscReal            part[ALL][DOTS];

#pragma unroll
  for (int c = 0; c < ALL; c++)
#pragma unroll
    for (int k = 0; k < DOTS; k++) part[c][k] = c < columns ? v[c < columns ? c : 0][k] : 0;
#pragma unroll
  for (int half = ALL / 2, mask = 16; half > 0; half /= 2, mask /= 2) {
    const bool upper = lane & mask;
#pragma unroll
    for (int c = 0; c < ALL / 2; c++)
#pragma unroll
      for (int k = 0; k < DOTS; k++) {
        if (c >= half) continue;
        const PetscReal mine = upper ? part[c + half][k] : part[c][k], other = upper ? part[c][k] : part[c + half][k];
        part[c][k] = mine + shuffle_xor(other, mask, 32);
      }
  }
#pragma unroll
  for (int k = 0; k < DOTS; k++)
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) part[0][k] += shuffle_xor(part[0][k], mask, 32);
#pragma unroll
  for (int k = 0; k < DOTS; k++)
    if (lane % LANES == 0) warps[threadIdx.x / 32][lane / LANES * DOTS + k] = part[0][k];
  __syncthreads();
  PetscReal sum = 0;
  if (threadIdx.x < columns * DOTS)
    for (int w = 0; w < THREADS / 32; w++) sum += warps[w][threadIdx.x];
  return sum;
}

/// Ends a product: as close_product(), and the last group to arrive adds up all of them. All threads of THREADS must
/// call.
template <int columns>
__device__ __forceinline__ void close_columns(const DenseDots &d, PetscReal (&part)[columns][DOTS])
{
  constexpr unsigned   COUNT = columns * DOTS, TURNS = THREADS / COUNT;
  __shared__ PetscReal turns[TURNS][COUNT];
  __shared__ bool      last;
  const unsigned size = (gridDim.x + DOT_GROUPS - 1) / DOT_GROUPS, group = blockIdx.x / size, begin = group * size;
  const unsigned groups = (gridDim.x + size - 1) / size, members = gridDim.x - begin < size ? gridDim.x - begin : size;
  const unsigned t = threadIdx.x, of = t % COUNT, turn = t / COUNT;
  PetscReal *const of_groups = d.partial + static_cast<size_t>(gridDim.x) * COUNT;
  PetscReal        sum       = column_sums(part);

  // the last of `count` to have called, with what it has written, to all threads
  const auto arrives = [&](unsigned *counter, unsigned count) {
    __threadfence();
    __syncthreads();
    if (t == 0) {
      last = atomicAdd(counter, 1u) == count - 1;
      if (last) *counter = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
  };
  if (t < COUNT) d.partial[static_cast<size_t>(blockIdx.x) * COUNT + t] = sum;
  if (!arrives(d.arrived + group, members)) return;
  if (t < COUNT) {
    sum = 0;
    for (unsigned b = begin; b < begin + members; b++)
      sum += load_shared(d.partial + static_cast<size_t>(b) * COUNT + t);
    of_groups[static_cast<size_t>(group) * COUNT + t] = sum;
  }
  if (!arrives(d.arrived + DOT_GROUPS, groups)) return;
  sum = 0;
  if (turn < TURNS)
    for (unsigned g = turn; g < groups; g += TURNS) sum += load_shared(of_groups + static_cast<size_t>(g) * COUNT + of);
  if (turn < TURNS) turns[turn][of] = sum;
  __syncthreads();
  if (t >= COUNT) return;
  sum = 0;
  for (unsigned k = 0; k < TURNS; k++) sum += turns[k][t];
  d.sums[t] = sum;
}

/// The shares of row `row` of A X in the inner products, whose sums of all columns are z.
template <int columns> __device__ __forceinline__ void add_shares(const DenseColumns &d, const DenseDots &dots,
                                                                  PetscCount row, const Scalar (&z)[columns],
                                                                  PetscReal (&part)[columns][DOTS])
{
  const bool      varies = dots.weight && (!dots.varies || *dots.varies != 0);
  const PetscReal weight = dots.weight ? RealPart(dots.weight[varies ? row : 0]) : 1;

#pragma unroll
  for (int c = 0; c < columns; c++) {
    part[c][0] += RealPart(Conj(d.X(c)[row]) * z[c]);
    if (!dots.y) continue;
    part[c][1] += weight * RealPart(Conj(dots.Y(c)[row]) * z[c]);
    part[c][2] += weight * RealPart(Conj(z[c]) * z[c]);
  }
}

} // namespace sparsegpu::formats
