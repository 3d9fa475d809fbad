/// A product that leaves inner products with its factor behind, for Krylov methods on the device.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::formats
{

constexpr int DOT_GROUPS = 512; ///< of thread blocks: what the blocks of the next kernel can sum once each

constexpr int DOTS = 3;

/// z = A x, and the real parts of (x, z), (y, W z) and (z, W z) with a diagonal W, as sums of at most DOT_GROUPS groups
/// of thread blocks: whoever needs them adds these up in their order. All arrays are on the device.
struct ProductDots {
  const Scalar *x;      ///< [rows]
  Scalar       *z;      ///< [rows]
  const Scalar *y;      ///< [rows]
  const Scalar *weight; ///< [rows] W; null: 1
  const int    *varies; ///< [1] zero if all weights are the first one; null: they may differ
  PetscReal *sums; ///< [DOTS * DOT_GROUPS] of group g from DOTS g on; zero before the first of products in one format
  PetscReal *partial;    ///< [DOTS * DotBlocks(rows)] scratch
  unsigned  *arrived;    ///< [DOT_GROUPS] zero before and after
  const int *stopped_at; ///< [1] nothing is done if it is below `number`
  int        number;
};

/// As many thread blocks as any format's product has, at most: a block has three rows or more, but for the last one.
inline PetscInt DotBlocks(PetscInt rows)
{
  return rows / 3 + 2;
}

/// The sums of a product z that has been computed before. Asynchronous, bitwise reproducible.
PetscErrorCode DotsOfProduct_CUDA(PetscInt rows, const ProductDots &dots, Stream stream);

} // namespace sparsegpu::formats
