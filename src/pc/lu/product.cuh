/// C -= A B for one block of C, through shared memory.
#pragma once

#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

static constexpr int BLOCK = 64, DEPTH = 16, SHARE = 4; ///< of a product: BLOCK x BLOCK entries a block, DEPTH at a
                                                        ///< time; SHARE x SHARE a thread
static constexpr int PRODUCT_THREADS = (BLOCK / SHARE) * (BLOCK / SHARE);

namespace
{
struct ProductShared {
  Scalar A[DEPTH][BLOCK], B[DEPTH][BLOCK + 1];
};
/// Columns of A or B from k0 on, of which DEPTH are read: entry (i, k) of A is at at[i + k * ld].
struct Slice {
  const Scalar *at;
  PetscCount    ld;
};
/// All columns ld apart.
struct PlainRows {
  const Scalar *at;
  PetscCount    ld;

  __device__ Slice From(PetscCount k0) const { return Slice{at + k0 * ld, ld}; }
};
/// Columns `first` ..., a multiple of DEPTH, of a half's square, rows `row` ... of them.
struct TileRows {
  const DeviceFront &F;
  PetscCount         first, row;

  __device__ Slice From(PetscCount k0) const
  {
    const PetscCount k = first + k0;
    return Slice{F.Column<true>(k) + row, F.pivots - k / LU_TILE * LU_TILE};
  }
};
static_assert(LU_TILE % DEPTH == 0, "a slice is of one tile");

/// Entry (k, j) of B, columns ld apart: neighbouring threads read neighbouring k.
struct PlainFactor {
  static constexpr bool by_rows = false;
  const Scalar         *at;
  PetscCount            ld;

  __device__ PlainFactor From(PetscCount k0) const { return PlainFactor{at + k0, ld}; }
  __device__ Scalar      operator()(PetscCount k, PetscCount j) const { return at[k + j * ld]; }
};
/// Entry (k, j) of B = D L^T, or D L^H, L given by its rows, columns `first` ... of it; neighbouring threads read
/// neighbouring j.
template <class Rows> struct ScaledFactor {
  static constexpr bool by_rows = true;
  const DeviceFront    &F;
  PetscCount            first;
  Rows                  rows;

  struct ScaledSlice {
    const DeviceFront &F;
    Slice              slice;
    const Scalar      *pivot;
    PetscCount         step; ///< between pivots

    __device__ Scalar operator()(PetscCount k, PetscCount j) const
    {
      return pivot[k * step] * F.Mirrored(slice.at[j + k * slice.ld]);
    }
  };
  __device__ ScaledSlice From(PetscCount k0) const
  {
    const PetscCount k = first + k0;
    return ScaledSlice{F, rows.From(k0), F.Column<true>(k) + k, F.pivots - k / LU_TILE * LU_TILE + 1};
  }
};
} // namespace

/// C [rows x columns] -= A [rows x depth] B [depth x columns], the block that begins at (i0, j0), or of that what is
/// not above the diagonal of C, if `lower`. column(j): where row 0 of column j of C is. Neighbouring threads have
/// neighbouring rows of C and A.
template <bool lower, class Rows, class Factor, class Column>
static __device__ void SubtractBlock(PetscCount rows, PetscCount columns, PetscCount depth, const Rows &A,
                                     const Factor &B, Column column, PetscCount i0, PetscCount j0, ProductShared *S)
{
  constexpr int SIDE = BLOCK / SHARE;
  const int     ti = threadIdx.x % SIDE, tj = threadIdx.x / SIDE;
  Scalar        sum[SHARE][SHARE];

#pragma unroll
  for (int u = 0; u < SHARE; u++)
#pragma unroll
    for (int v = 0; v < SHARE; v++) sum[u][v] = Scalar(0);
  for (PetscCount k0 = 0; k0 < depth; k0 += DEPTH) {
    const auto a0 = A.From(k0);
    const auto b0 = B.From(k0);
#pragma unroll
    for (int e = threadIdx.x; e < DEPTH * BLOCK; e += PRODUCT_THREADS) {
      const int        i = e % BLOCK, k = e / BLOCK;
      const int        l = Factor::by_rows ? k : e % DEPTH, j = Factor::by_rows ? i : e / DEPTH;
      const PetscCount row = i0 + i;
      S->A[k][i]           = row < rows && k0 + k < depth ? a0.at[row + k * a0.ld] : Scalar(0);
      S->B[l][j]           = j0 + j < columns && k0 + l < depth ? b0(l, j0 + j) : Scalar(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      Scalar a[SHARE], b[SHARE];
#pragma unroll
      for (int u = 0; u < SHARE; u++) {
        a[u] = S->A[k][ti + u * SIDE];
        b[u] = S->B[k][tj + u * SIDE];
      }
#pragma unroll
      for (int u = 0; u < SHARE; u++)
#pragma unroll
        for (int v = 0; v < SHARE; v++) sum[u][v] = sum[u][v] + a[u] * b[v];
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < SHARE; v++) {
    const PetscCount j = j0 + tj + v * SIDE;
    if (j >= columns) break;
    Scalar *const to = column(j);
#pragma unroll
    for (int u = 0; u < SHARE; u++) {
      const PetscCount i = i0 + ti + u * SIDE;
      if (i < rows && (!lower || i >= j)) to[i] = to[i] - sum[u][v];
    }
  }
}

} // namespace sparsegpu::lu
