/// What is done to one tile, for both backends. No Mat, Vec or host code in it.
#pragma once

#include "mat/formats/bitmap/storage.hpp"
#include "mat/products/names.hpp"

namespace sparsegpu::products
{

/// Those who work on a tile together: the threads of a block on the device, one on the host. `lanes` neighbours (a
/// power of two, at most a warp) share a line; ranks are lane + lanes * group.
struct Team {
  PetscInt rank = 0, size = 1, lanes = 1;

  SPARSEGPU_HD PetscInt Lane() const { return rank % lanes; }
  SPARSEGPU_HD PetscInt Group() const { return rank / lanes; }
  SPARSEGPU_HD PetscInt Groups() const { return size / lanes; }
  /// All must call.
  SPARSEGPU_HD void Sync() const
  {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

/// C = A + B or A - B where C has entries. Neighbours take neighbouring entries of a line.
template <class Word> SPARSEGPU_HD void AddTile(const Team &team, const BitmapView<Word> &A, const BitmapView<Word> &B,
                                                bool subtract, const BitmapView<Word> &C)
{
  for (PetscInt l = team.Group(); l < C.Lines(); l += team.Groups())
    for (PetscInt k = team.Lane(); k < C.Length(); k += team.lanes) {
      if (!C.HasPlace(l, k)) continue;
      const PetscInt i = C.by_columns ? k : l, j = C.by_columns ? l : k;
      const Scalar   b = B.Get(i, j), term = subtract ? Scalar(0) - b : b;
      C.values[C.Position(l, k)] = !B.Has(i, j) ? A.Get(i, j) : A.Has(i, j) ? A.Get(i, j) + term : term;
    }
}

/// C = A B where C has entries: sums of what both bits are set for.
template <class Word> SPARSEGPU_HD void MultiplyTile(const Team &team, const BitmapView<Word> &A,
                                                     const BitmapView<Word> &B, const BitmapView<Word> &C)
{
  for (PetscInt l = team.Group(); l < C.Lines(); l += team.Groups())
    for (PetscInt k = team.Lane(); k < C.Length(); k += team.lanes) {
      if (!C.HasPlace(l, k)) continue;
      const PetscInt i = C.by_columns ? k : l, j = C.by_columns ? l : k;
      Scalar         sum(0);
      for (PetscInt m = 0; m < A.cols; m++)
        if (A.Has(i, m) && B.Has(m, j)) sum += A.Get(i, m) * B.Get(m, j);
      C.values[C.Position(l, k)] = sum;
    }
}

} // namespace sparsegpu::products
