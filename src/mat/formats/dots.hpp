/// A product that leaves inner products with its factor behind, for Krylov methods on the device.
#pragma once

#include <cstdint>
#include "comm/exchange.hpp"
#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu::formats
{

constexpr int DOT_GROUPS = 512; ///< of thread blocks: what the blocks of the next kernel can sum once each

constexpr int DOTS = 3;
/// Reals that a product of each kind of sums leaves; a complex sum is two.
constexpr int PARTS         = PetscDefined(USE_COMPLEX) ? 2 : 1;
constexpr int SHADOW_DOTS   = PARTS + 1;
constexpr int MINIMISE_DOTS = 2 * PARTS + 2;
constexpr int MOST_DOTS     = MINIMISE_DOTS > DOTS ? MINIMISE_DOTS : DOTS;

/// What a product leaves, with a diagonal W; (a, b) is the sum of conj(a) b.
enum class ProductSums {
  Conjugate, ///< z = A x, and DOTS sums: the real parts of (x, z), (y, W z) and (z, W z)
  Shadow,    ///< z = W A x, and SHADOW_DOTS sums: (y, z), (z, z)
  Minimise   ///< z = W A x, and MINIMISE_DOTS sums: (y, z), (z, z), (s, z), (s, s); not with a complete exchange
};

struct StepLength; // mat/formats/step_length.hpp

/// z and its inner products, as sums of at most DOT_GROUPS groups of thread blocks: whoever needs them adds these up in
/// their order. All arrays are on the device. `count`: of the sums of the kind. Of Shadow and Minimise rows that are
/// left out are stored without W.
struct ProductDots {
  const Scalar *x;       ///< [rows]
  Scalar       *z;       ///< [rows]
  const Scalar *y;       ///< [rows]
  const Scalar *weight;  ///< [rows] W; null: 1
  const int    *varies;  ///< [1] zero if all weights are the first one; null: they may differ
  PetscReal    *sums;    ///< [count * DOT_GROUPS] of group g from count g on; zero before the first product in a format
  PetscReal    *partial; ///< [count * DotBlocks(rows)] scratch
  unsigned     *arrived; ///< [DOT_GROUPS] zero before and after
  const int    *stopped_at; ///< [1] nothing is done if it is below `number`
  int           number;
  ProductSums   kind;
  const Scalar *s;      ///< [rows] of Minimise
  const Scalar *minus;  ///< [rows] x and s stand for x - *factor minus, s - *factor minus; null: none
  const Scalar *factor; ///< [1]; minus is for Shadow and Minimise, where Format::TakesDifferences()
  StepLength   *length; ///< [1] of Shadow, where Format::TakesDifferences(): found by the last thread block; null: none
  const comm::DeviceExchange *exchange; ///< begun by the product; null: none
  const std::uint32_t *left_out; ///< [rows / 32 + 1] bit r % 32 of word r / 32: row r is in no sum; null: all are
};

/// As many thread blocks as any format's product has, at most: a block has three rows or more, but for the last one.
inline PetscInt DotBlocks(PetscInt rows)
{
  return rows / 3 + 2;
}

/// The sums of a product z that has been computed before. Asynchronous, bitwise reproducible.
PetscErrorCode DotsOfProduct_CUDA(PetscInt rows, const ProductDots &dots, Stream stream);

} // namespace sparsegpu::formats
