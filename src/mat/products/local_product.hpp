/// The part of a product of parallel matrices that one rank computes: L R, T^T R, T^T (L R) or T^T of rows that it has.
/// What depends on the patterns alone is made once.
#pragma once

#include "mat/products/block_rows.hpp"
#include "mat/products/transposed_rows.hpp"

namespace sparsegpu::products
{

/// All in one space; null where there is none. Of their `blocks` the sizes alone are given.
struct LocalFactors {
  const SparseRows *transposed, *left, *right;
};

class LocalProduct
{
public:
  /// Finds the pattern, by blocks where all factors are made of such. `transposed`: T as TransposedRows::Find() takes
  /// it, null for none. Waits for the device. Errors: those of MultiplyPattern() and MultiplyBlockPattern().
  PetscErrorCode FindPattern(Space space, const LocalFactors &factors, const CsrView *transposed);
  /// Takes the memory that FindValues() writes to. Errors: PETSC_ERR_MEM.
  PetscErrorCode Reserve();
  /// c [nonzeros of the result] = its values. Bitwise reproducible. Asynchronous on the device.
  PetscErrorCode FindValues(const LocalFactors &factors, Scalar *c);
  /// The pattern, as long as this lives, without values, and the sizes of its blocks.
  SparseRows Result() const;
  /// Whether FindValues() sums by blocks.
  bool ByBlocks() const { return blocked_; }
  /// Of FindValues().
  PetscLogDouble flops() const { return 2.0 * static_cast<PetscLogDouble>(inner_.terms + result_.terms); }

private:
  PetscErrorCode FindBlocks(const LocalFactors &factors);
  PetscErrorCode FindOne(const SparseRows &A, const SparseRows &B, Pattern *C) const;
  PetscErrorCode FindResult(const SparseRows &A, const SparseRows &B);
  PetscErrorCode MultiplyOne(const SparseRows &A, const SparseRows &B, const Pattern &C, Scalar *c) const;
  SparseRows     Left(const LocalFactors &factors) const;
  SparseRows     Right(const LocalFactors &factors) const;
  SparseRows     Transposed() const;
  SparseRows     Inner(const LocalFactors &factors) const;

  Space          space_   = Space::Host;
  bool           alone_   = false; ///< T^T is the result
  bool           blocked_ = false; ///< all factors are made of blocks, and patterns are found, and sums made, by these
  PetscInt       cols_    = 0;     ///< of the result, unless it is T^T
  BlockView      sizes_;           ///< of the result's blocks
  TransposedRows transpose_;
  BlockRows      left_, right_, transposed_; ///< the blocks of L, R and T^T, if blocked_
  Pattern        inner_;                     ///< of L R where there is T, too; of its blocks, if blocked_
  size_t         inner_nonzeros_ = 0;
  Array<Scalar>  inner_values_; ///< [inner_nonzeros_]
  Pattern        blocks_;       ///< of the result, if blocked_
  Pattern        result_;       ///< unless it is T^T
};

} // namespace sparsegpu::products
