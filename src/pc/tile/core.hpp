/// The factorization of one tile and its solves, for both backends. No Mat, Vec or host code in it.
#pragma once

#include "mat/products/tile/core.hpp"
#include "pc/tile/lu.hpp"

namespace sparsegpu::tile
{

SPARSEGPU_HD bool IsNan(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return v.re != v.re || v.im != v.im;
#else
  return v != v;
#endif
}

SPARSEGPU_HD bool IsZero(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return v.re == 0 && v.im == 0;
#else
  return v == 0;
#endif
}

/// A dense tile and the order of its rows in fast memory: entry (i, j) of P A is at order[i] * pitch + j.
struct DenseTile {
  PetscInt  n, pitch;
  Scalar   *values; ///< [n * pitch]
  PetscInt *order;  ///< [n]

  SPARSEGPU_HD Scalar &At(PetscInt i, PetscInt j) const { return values[order[i] * pitch + j]; }
};

/// Every place of D, zero where A has no entry; D's rows in their own order. Neighbours read neighbouring entries.
template <class Word> SPARSEGPU_HD void ScatterTile(const Team &team, const BitmapView<Word> &A, const DenseTile &D)
{
  for (PetscInt i = team.rank; i < D.n; i += team.size) D.order[i] = i;
  for (PetscInt l = team.Group(); l < A.Lines(); l += team.Groups())
    for (PetscInt k = team.Lane(); k < A.Length(); k += team.lanes)
      D.values[A.by_columns ? k * D.pitch + l : l * D.pitch + k] =
          A.HasPlace(l, k) ? A.values[A.Position(l, k)] : Scalar(0);
}

/// The magnitude; of NaN less than any.
SPARSEGPU_HD PetscReal SizeOfPivot(const Scalar &v)
{
  const PetscReal size = Magnitude(v);
  return size >= 0 ? size : -1;
}

/// Puts the row whose entry in column k is largest, the first row of several, in place k. NaN is never larger. Of the
/// team only the first warp: all of it must call.
SPARSEGPU_HD void ChoosePivot(const Team &team, const DenseTile &D, PetscInt k)
{
  const PetscInt step = team.size < 32 ? team.size : 32;
  PetscReal      best = -2;
  PetscInt       at   = k;

  for (PetscInt i = k + team.rank; i < D.n; i += step) {
    const PetscReal size = SizeOfPivot(D.At(i, k));
    if (size > best || (size == best && D.order[i] < D.order[at])) {
      best = size;
      at   = i;
    }
  }
#if defined(__CUDA_ARCH__)
  for (int mask = 16; mask > 0; mask /= 2) {
    const PetscReal other    = __shfl_xor_sync(0xffffffffu, best, mask);
    const PetscInt  other_at = __shfl_xor_sync(0xffffffffu, at, mask);
    if (other > best || (other == best && D.order[other_at] < D.order[at])) {
      best = other;
      at   = other_at;
    }
  }
  __syncwarp(); // all have read the order
#endif
  if (team.rank == 0 && at != k) {
    const PetscInt row = D.order[at];
    D.order[at]        = D.order[k];
    D.order[k]         = row;
  }
}

/// D = L U, L's columns not yet divided by the pivots: no thread writes what others read within a step, so one Sync()
/// ends it. Updates keep to the flags of `LU`, or go everywhere if `pivoting`. The first step without a pivot, n: none;
/// the same for all.
template <class Word> SPARSEGPU_HD PetscInt EliminateTile(const Team &team, const BitmapView<Word> &LU, bool pivoting,
                                                          PetscReal zero, const DenseTile &D)
{
  for (PetscInt k = 0; k < D.n; k++) {
    if (pivoting) {
      if (team.rank < 32) ChoosePivot(team, D, k);
      team.Sync();
    }
    const Scalar pivot = D.At(k, k);
    if (!(Magnitude(pivot) > zero)) return k; // NaN, too
    const Scalar inverse = Inverse(pivot);
    for (PetscInt j = k + 1 + team.Lane(); j < D.n; j += team.lanes) {
      if (!pivoting && !LU.HasPlace(j, k)) continue; // U's
      const Scalar u = D.At(k, j);
      if (IsZero(u)) continue;
      for (PetscInt i = k + 1 + team.Group(); i < D.n; i += team.Groups()) {
        if (!pivoting && !LU.HasPlace(k, i)) continue; // L's
        D.At(i, j) = D.At(i, j) - D.At(i, k) * inverse * u;
      }
    }
    team.Sync();
  }
  return D.n;
}

/// D to the entries of LU, by columns, L divided by the pivots; zeros if `failed`. The first row where this rank met a
/// NaN, n: none.
template <class Word>
SPARSEGPU_HD PetscInt GatherTile(const Team &team, const BitmapView<Word> &LU, bool failed, const DenseTile &D)
{
  PetscInt nan = D.n;
  for (PetscInt j = team.Group(); j < D.n; j += team.Groups()) {
    const Scalar inverse = failed ? Scalar(0) : Inverse(D.At(j, j));
    for (PetscInt i = team.Lane(); i < D.n; i += team.lanes) {
      if (!LU.HasPlace(j, i)) continue;
      const Scalar v = failed ? Scalar(0) : i < j ? D.At(i, j) : i == j ? inverse : D.At(i, j) * inverse;
      if (IsNan(v) && D.order[i] < nan) nan = D.order[i];
      LU.values[LU.Position(j, i)] = v;
    }
  }
  return nan;
}

/// Factors A. The first row without a pivot or with a NaN that this rank has met, in the order of A's rows, n: none;
/// *pivot: its magnitude. `permutation` is null without pivoting.
template <class Word> SPARSEGPU_HD PetscInt FactorTile(const Team &team, const BitmapView<Word> &A,
                                                       const BitmapView<Word> &LU, PetscInt *permutation,
                                                       PetscReal zero, const DenseTile &D, PetscReal *pivot)
{
  ScatterTile(team, A, D);
  team.Sync();
  const PetscInt step = EliminateTile(team, LU, permutation != nullptr, zero, D);
  const PetscInt nan  = GatherTile(team, LU, step < D.n, D);
  for (PetscInt i = team.rank; i < D.n && permutation; i += team.size) permutation[i] = D.order[i];
  if (step < D.n) *pivot = Magnitude(D.At(step, step));
  if (nan < D.n) *pivot = RealOf(PAD_BITS); // some NaN
  return step < D.n ? D.order[step] : nan;
}

/// A x = b with P A = L U: y [n] starts as P b, z [n] becomes the solution; in fast memory, both. A step takes its
/// unknown from all that come after.
template <class Word> SPARSEGPU_HD void SolveTile(const Team &team, const BitmapView<Word> &LU,
                                                  const PetscInt *permutation, const Scalar *b, Scalar *x, Scalar *y,
                                                  Scalar *z)
{
  const PetscInt n = LU.rows;
  for (PetscInt i = team.rank; i < n; i += team.size) y[i] = b[permutation ? permutation[i] : i];
  team.Sync();
  for (PetscInt k = 0; k < n; k++) {
    const Scalar v = y[k];
    for (PetscInt i = k + 1 + team.rank; i < n; i += team.size)
      if (LU.HasPlace(k, i)) y[i] = y[i] - LU.values[LU.Position(k, i)] * v;
    team.Sync();
  }
  for (PetscInt k = n - 1; k >= 0; k--) {
    const Scalar v = y[k] * LU.values[LU.Position(k, k)];
    if (team.rank == 0) z[k] = v;
    for (PetscInt i = team.rank; i < k; i += team.size)
      if (LU.HasPlace(k, i)) y[i] = y[i] - LU.values[LU.Position(k, i)] * v;
    team.Sync();
  }
  for (PetscInt i = team.rank; i < n; i += team.size) x[i] = z[i];
}

/// A^T x = b: U^T z = b, L^T (P x) = z.
template <class Word> SPARSEGPU_HD void SolveTransposedTile(const Team &team, const BitmapView<Word> &LU,
                                                            const PetscInt *permutation, const Scalar *b, Scalar *x,
                                                            Scalar *y, Scalar *z)
{
  const PetscInt n = LU.rows;
  for (PetscInt i = team.rank; i < n; i += team.size) y[i] = b[i];
  team.Sync();
  for (PetscInt k = 0; k < n; k++) {
    const Scalar v = y[k] * LU.values[LU.Position(k, k)];
    if (team.rank == 0) z[k] = v;
    for (PetscInt j = k + 1 + team.rank; j < n; j += team.size)
      if (LU.HasPlace(j, k)) y[j] = y[j] - LU.values[LU.Position(j, k)] * v;
    team.Sync();
  }
  for (PetscInt k = n - 1; k >= 0; k--) {
    const Scalar v = z[k];
    for (PetscInt j = team.rank; j < k; j += team.size)
      if (LU.HasPlace(j, k)) z[j] = z[j] - LU.values[LU.Position(j, k)] * v;
    team.Sync();
  }
  for (PetscInt i = team.rank; i < n; i += team.size) x[permutation ? permutation[i] : i] = z[i];
}

} // namespace sparsegpu::tile
