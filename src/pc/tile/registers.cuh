/// The factorization of a tile of up to 128 rows with the dense tile in registers: shared memory carries one column and
/// one row a step, so that an entry of the trailing part costs a product and no access. Lane r of group g, a warp,
/// holds rows r + 32 b of columns g + GROUPS a.
#pragma once

#include "pc/tile/core.hpp"

namespace sparsegpu
{

/// Columns that a thread holds entries of.
static constexpr int HELD = 8;

/// Buffers alternate: who is done with a step may publish for the next while others still read.
template <int GROUPS> struct RegisterShared {
  static constexpr int MOST = HELD * GROUPS; ///< rows of a tile
  Scalar               column[2][MOST], inverse[MOST];
  PetscInt             pivot[2];
};

/// v of lane `source`, to all lanes of the warp.
static __device__ __forceinline__ PetscReal FromLane(PetscReal v, int source)
{
  return __shfl_sync(0xffffffffu, v, source);
}
/// v, so that the compiler cannot tell where it comes from: it would turn a choice between registers into a choice
/// between addresses, and then keep the tile in memory.
static __device__ __forceinline__ PetscReal Held(PetscReal v)
{
#if defined(PETSC_USE_REAL_SINGLE)
  asm("" : "+f"(v));
#else
  asm("" : "+d"(v));
#endif
  return v;
}
#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Scalar FromLane(const Scalar &v, int source)
{
  return Scalar(FromLane(v.re, source), FromLane(v.im, source));
}
static __device__ __forceinline__ Scalar Held(const Scalar &v)
{
  return Scalar(Held(v.re), Held(v.im));
}
#endif

/// Row of the largest entry, the first of several, among those of the warp that are not yet pivots; to all its lanes.
/// All lanes must call.
template <int ROWS>
static __device__ __forceinline__ PetscInt LargestRow(const Scalar *mine, const PetscInt *place, PetscInt n)
{
  PetscReal best = -2;
  PetscInt  at   = n;
#pragma unroll
  for (int b = 0; b < ROWS; b++) {
    const PetscInt i = static_cast<PetscInt>(threadIdx.x % 32) + 32 * b;
    if (i >= n || place[b] < n) continue;
    const PetscReal size = SizeOfPivot(mine[b]);
    if (size > best) {
      best = size;
      at   = i;
    }
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscReal other    = __shfl_xor_sync(0xffffffffu, best, mask);
    const PetscInt  other_at = __shfl_xor_sync(0xffffffffu, at, mask);
    if (other > best || (other == best && other_at < at)) {
      best = other;
      at   = other_at;
    }
  }
  return at;
}

/// As FactorTile(), by the threads of a block; n <= MOST. Without pivoting updates keep to the flags of L; a structural
/// zero of U is one in value, too, and a warp skips its column. All threads must call.
template <class Word, int GROUPS, int ROWS, bool pivoting>
static __device__ __forceinline__ PetscInt FactorInRegisters(const BitmapView<Word> &A, const BitmapView<Word> &LU,
                                                             PetscInt *permutation, PetscReal zero,
                                                             RegisterShared<GROUPS> *shared, PetscReal *size)
{
  const int      lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const PetscInt n      = A.rows;
  PetscInt       bad    = n; // the row to blame, as far as this thread knows
  bool           failed = false;
  Scalar         d[HELD][ROWS];
  PetscInt       place[ROWS]; // of the thread's rows in the order of pivots; n: not yet

#pragma unroll
  for (int b = 0; b < ROWS; b++) {
    const PetscInt i = lane + 32 * b;
    place[b]         = pivoting ? n : i;
#pragma unroll
    for (int a = 0; a < HELD; a++) {
      const PetscInt j = group + GROUPS * a;
      d[a][b]          = i < n && j < n ? A.Get(i, j) : Scalar(0);
    }
  }
  // step k = GROUPS a0 + g: arrays are indexed by constants alone, else they would not be in registers
#pragma unroll
  for (int a0 = 0; a0 < HELD; a0++) {
#pragma unroll 1
    for (int g = 0; g < GROUPS; g++) {
      const PetscInt k = GROUPS * a0 + g;
      if (k >= n || failed) break;
      Scalar *column = shared->column[k % 2];
      if (group == g) { // a warp
#pragma unroll
        for (int b = 0; b < ROWS; b++)
          if (lane + 32 * b < n) column[lane + 32 * b] = d[a0][b];
        if (pivoting) {
          const PetscInt largest = LargestRow<ROWS>(d[a0], place, n);
          if (lane == 0) shared->pivot[k % 2] = largest;
        }
      }
      __syncthreads(); // the only one of a step
      const PetscInt p = pivoting ? shared->pivot[k % 2] : k;
#pragma unroll
      for (int b = 0; b < ROWS; b++) place[b] = lane == p % 32 && b == p / 32 ? k : place[b];
      const Scalar pivot = column[p];
      if (!(Magnitude(pivot) > zero)) { // NaN, too; all threads see the same
        failed = true;
        bad    = p;
        *size  = Magnitude(pivot);
        break;
      }
      const Scalar inverse = Inverse(pivot);
      if (threadIdx.x == 0) {
        shared->inverse[k] = inverse;
        if (pivoting) permutation[k] = p;
      }
      Scalar l[ROWS];
      bool   below[ROWS];
#pragma unroll
      for (int b = 0; b < ROWS; b++) {
        const PetscInt i = lane + 32 * b;
        below[b]         = i < n && (pivoting ? place[b] == n : i > k && LU.HasPlace(k, i));
        l[b]             = below[b] ? column[i] * inverse : Scalar(0);
      }
#pragma unroll
      for (int a = a0; a < HELD; a++) { // what lies left of column k is done with
        const PetscInt j = group + GROUPS * a;
        if (j <= k || j >= n) continue;
        Scalar u = Held(d[a][0]);
#pragma unroll
        for (int b = 1; b < ROWS; b++) {
          const Scalar v = Held(d[a][b]);
          u              = b == p / 32 ? v : u;
        }
        u = FromLane(u, p % 32);
        if (IsZero(u)) continue;
#pragma unroll
        for (int b = 0; b < ROWS; b++)
          if (below[b]) d[a][b] = d[a][b] - l[b] * u;
      }
    }
  }
  __syncthreads(); // the inverses are there
  if (failed) {
    for (PetscInt e = threadIdx.x; e < LU.start[LU.cols]; e += 32 * GROUPS) LU.values[e] = Scalar(0);
    for (PetscInt i = threadIdx.x; i < n && pivoting; i += 32 * GROUPS) permutation[i] = i;
    return bad;
  }
#pragma unroll
  for (int a = 0; a < HELD; a++) {
    const PetscInt j = group + GROUPS * a;
    if (j >= n) continue;
    const Scalar inverse = shared->inverse[j];
#pragma unroll
    for (int b = 0; b < ROWS; b++) {
      const PetscInt i = lane + 32 * b;
      if (i >= n || !LU.HasPlace(j, place[b])) continue;
      const Scalar v = place[b] < j ? d[a][b] : place[b] == j ? inverse : d[a][b] * inverse;
      if (IsNan(v) && i < bad) bad = i;
      LU.values[LU.Position(j, place[b])] = v;
    }
  }
  if (bad < n) *size = RealOf(PAD_BITS); // some NaN
  return bad;
}

} // namespace sparsegpu
