/// LU of a panel, some neighbouring columns of a tile, by one warp and in registers: lane r holds rows r + 32 b. A step
/// is a chain of a search, a division, a broadcast and a product; no thread waits at a block's barrier for it, and the
/// loop has no branch, so that the products of one step fill the waits of the next.
#pragma once

#include "device/warp.cuh"
#include "pc/tile/core.hpp"

namespace sparsegpu::tile
{

/// Entry (i, j) of a tile in shared memory at i + j * PITCH, an odd number: neighbours of a row do not meet in one
/// bank; and a constant: addresses cost nothing. P A = L U's row i was row order[i] of A.
template <int PITCH> struct BlockedTile {
  int       n;
  Scalar   *values; ///< [n * PITCH]
  PetscInt *order;  ///< [n]

  __device__ Scalar &operator()(int i, int j) const { return values[i + j * PITCH]; }
};

/// Places of rows count from the panel's first.
template <int PANEL> struct PanelShared {
  alignas(16) Scalar row[2][PANEL]; ///< the pivot's; buffers alternate
  alignas(16) int from[PANEL];      ///< where the row that is now at a place came from
  alignas(16) int to[PANEL];        ///< where the row that was at a place went
  bool failed; ///< a step had no pivot, or one too close to overflow or underflow for the fast division
};

/// v of lane `source`, to all lanes of the warp.
static __device__ __forceinline__ PetscReal FromLane(PetscReal v, int source)
{
  return __shfl_sync(0xffffffffu, v, source);
}
/// 1 / v, rounded as a division, where the result and v are far from overflow and underflow: without the branch for the
/// others.
static __device__ __forceinline__ double PlainInverse(double v)
{
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
  const double e = fma(-v, r, 1.0);
  r              = fma(r, fma(e, e, e), r);
  return fma(r, fma(-v, r, 1.0), r);
}
static __device__ __forceinline__ float PlainInverse(float v)
{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return fmaf(r, fmaf(-v, r, 1.0f), r);
}
#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Scalar FromLane(const Scalar &v, int source)
{
  return Scalar(FromLane(v.re, source), FromLane(v.im, source));
}
static __device__ __forceinline__ Scalar PlainInverse(const Scalar &v)
{
  return Inverse(v);
}
#endif
static constexpr PetscReal PLAIN_LEAST = sizeof(PetscReal) == 4 ? 0x1p-120 : 0x1p-1000, PLAIN_MOST = 1 / PLAIN_LEAST;

/// The bits of the magnitude, which order as numbers do, NaN above all.
static __device__ __forceinline__ RealBits SizeBits(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return BitsOf(Magnitude(v));
#else
  return BitsOf(v) & (~static_cast<RealBits>(0) >> 1);
#endif
}

/// x = L U, the first `width` columns of it. Rows stay where they are: place[b] is where they belong. With pivoting the
/// row of largest magnitude is the pivot, the one of least origin[b] of several. *diagonal: the inverse of lane's
/// pivot. Rows and columns that the tile does not have are the identity's. False, to all lanes: PanelShared::failed, of
/// a NaN before its place, too. The warp must call.
template <int ROWS, int PANEL, bool pivoting>
static __device__ __forceinline__ bool EliminatePanel(Scalar (&x)[ROWS][PANEL], int (&place)[ROWS],
                                                      const int (&origin)[ROWS], int width, PetscReal zero,
                                                      PanelShared<PANEL> *S, Scalar *diagonal)
{
  const int       lane  = threadIdx.x % 32;
  const PetscReal least = zero > PLAIN_LEAST ? zero : PLAIN_LEAST;
  bool            plain = true;

#pragma unroll
  for (int j = 0; j < PANEL; j++) {
    if (j % 8 == 0 && j >= width) break; // not in every step: a branch would part it from the next
    int      pivot = j;                  // lane and row of it
    RealBits size  = place[0] >= j ? SizeBits(x[0][j]) : 0;
    Scalar   value = x[0][j];
    if (pivoting) {
      unsigned key = static_cast<unsigned>(origin[0] << 14 | lane) + static_cast<unsigned>(place[0] << 7);
#pragma unroll
      for (int b = 1; b < ROWS; b++) { // the least key of equals is that of the least origin
        const unsigned key_b  = static_cast<unsigned>(origin[b] << 14 | (lane + 32 * b) * 129);
        const RealBits size_b = place[b] >= j ? SizeBits(x[b][j]) : 0;
        const bool     better = size_b > size || (size_b == size && key_b < key);
        size                  = better ? size_b : size;
        key                   = better ? key_b : key;
        value                 = better ? x[b][j] : value;
      }
      const RealBits most  = LargestOfWarp(size);
      const unsigned first = __reduce_min_sync(0xffffffffu, size == most ? key : ~0u);
      plain                = plain && RealOf(most) > least && RealOf(most) < PLAIN_MOST;
      pivot                = static_cast<int>(first % 128);
      place[0]             = place[0] == j ? static_cast<int>(first / 128 % 128) : place[0]; // none but the first rows
#pragma unroll
      for (int b = 0; b < ROWS; b++) place[b] = lane + 32 * b == pivot ? j : place[b];
    } else
      plain = plain && (lane != j || (RealOf(size) > least && RealOf(size) < PLAIN_MOST));
    // every lane the inverse of its own candidate, while the search goes on
    const Scalar inverse = FromLane(PlainInverse(size ? value : Scalar(1)), pivot % 32);
    Scalar      *row     = S->row[j % 2];
    if (lane == j) *diagonal = inverse;
#pragma unroll
    for (int b = 0; b < (pivoting ? ROWS : 1); b++)
      if (lane + 32 * b == pivot) {
#pragma unroll
        for (int c = (j + 1) / 2 * 2; c < PANEL; c++) row[c] = x[b][c];
      }
    __syncwarp();
    Scalar l[ROWS];
#pragma unroll
    for (int b = 0; b < ROWS; b++) {
      const bool below = place[b] > j;
      x[b][j]          = x[b][j] * (below ? inverse : Scalar(1)); // no choice after the product: it would come late
      l[b]             = below ? x[b][j] : Scalar(0);
    }
#pragma unroll
    for (int c = j + 1; c < PANEL; c++) {
      const Scalar u = row[c];
#pragma unroll
      for (int b = 0; b < ROWS; b++) x[b][c] = x[b][c] - l[b] * u;
    }
  }
  return __all_sync(0xffffffffu, plain);
}

/// The panel of D that begins at row and column k0, its rows brought to their places, and what S tells the others of
/// it. Later panels are shorter: they hold fewer rows a lane. The warp must call.
template <int ROWS, int PANEL, bool pivoting, int PITCH>
static __device__ __forceinline__ void FactorPanel(const BlockedTile<PITCH> &D, int k0, PetscReal zero,
                                                   PanelShared<PANEL> *S)
{
  constexpr int HALF = ROWS / 2 + ROWS % 2;
  const int     lane = threadIdx.x % 32, rows = D.n - k0;
  if constexpr (ROWS > 1)
    if (rows <= 32 * HALF) return FactorPanel<HALF, PANEL, pivoting>(D, k0, zero, S);
  const int width = ROWS > 1 ? PANEL : min(PANEL, rows); // more than 32 rows have a whole panel
  Scalar    x[ROWS][PANEL], diagonal;
  int       place[ROWS], origin[ROWS];

#pragma unroll
  for (int b = 0; b < ROWS; b++) {
    const int  r   = lane + 32 * b;
    const bool has = (ROWS > 1 && b < HALF) || r < rows;
    place[b]       = r;
    origin[b]      = pivoting && has ? static_cast<int>(D.order[k0 + r]) : 128 + r;
#pragma unroll
    for (int c = 0; c < PANEL; c++) x[b][c] = has && c < width ? D(k0 + r, k0 + c) : Scalar(r == c ? 1 : 0);
  }
  const bool plain = EliminatePanel<ROWS, PANEL, pivoting>(x, place, origin, width, zero, S, &diagonal);
  if (lane == 0) S->failed = !plain;
  if (!plain) return; // places are undefined
#pragma unroll
  for (int b = 0; b < ROWS; b++) {
    const int r = lane + 32 * b;
    if (r >= rows) continue;
#pragma unroll
    for (int c = 0; c < PANEL; c++)
      if (c < width) D(k0 + place[b], k0 + c) = x[b][c];
    if (!pivoting) continue;
    D.order[k0 + place[b]] = origin[b];
    if (place[b] < PANEL) S->from[place[b]] = r;
    if (r < PANEL) S->to[r] = place[b];
  }
  __syncwarp();
  if (lane < width) D(k0 + lane, k0 + lane) = diagonal;
}

} // namespace sparsegpu::tile
