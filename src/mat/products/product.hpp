/// A product of two or three sparse matrices, each as it is or transposed: F0 F1, or F0 (F1 F2). What depends on the
/// patterns alone is made once.
#pragma once

#include <memory>
#include "mat/products/factor.hpp"

namespace sparsegpu::products
{

/// A matrix, and its Rows, in the place of a factor.
struct Operand {
  Mat   matrix;
  Rows *rows;
};

class Product
{
public:
  /// transposed [2 or 3]: which factors are.
  Product(Space space, const std::vector<bool> &transposed);

  /// The pattern of the product of these operands, one a factor. Errors: those of MultiplyPattern().
  PetscErrorCode FindPattern(const std::vector<Operand> &operands, Pattern *C);
  /// Its values c [nonzeros of C] in the pattern of C, which once was that of FindPattern(). C and the operands may
  /// have got other patterns, as long as C has an entry for each term. Asynchronous on the device, unless patterns have
  /// changed. Errors: PETSC_ERR_ARG_WRONGSTATE, each time, where C lacks an entry; PETSC_ERR_ARG_SIZ.
  PetscErrorCode FindValues(const std::vector<Operand> &operands, const Operand &C, Scalar *c);
  /// FindValues() in that space from now on.
  void  MoveTo(Space space);
  Space space() const { return space_; }
  /// Whether FindValues() sums by blocks.
  bool ByBlocks() const { return blocked_; }
  /// Of FindValues().
  PetscLogDouble flops() const { return 2.0 * static_cast<PetscLogDouble>(terms_ + inner_.terms); }

private:
  PetscErrorCode Bring(const std::vector<Operand> &operands, bool values, bool blocks);
  bool           MadeOfBlocks() const;
  PetscErrorCode FindInnerPattern();
  PetscErrorCode FindOuterPattern(Pattern *C);
  PetscErrorCode FindInnerValues();
  PetscErrorCode BringResult(const Operand &C, SparseRows *rows);
  /// The last factor, or the product of the last two: without values after FindInnerPattern() alone.
  SparseRows Right() const;

  Space               space_;
  std::vector<Factor> factors_;
  bool          blocked_ = false; ///< all factors are made of blocks, and patterns are found, and sums made, by these
  Pattern       inner_;           ///< of F1 F2; of its blocks, if blocked_
  Array<Scalar> inner_values_;
  bool          inner_stale_ = false; ///< operands have other patterns since it was found
  PatternWatch  result_;              ///< C's
  bool          suspect_ = false;     ///< patterns have changed, and C has not been seen to hold all terms since
  // of F0 times the rest
  Pattern              blocks_; ///< if blocked_
  Array<unsigned char> place_;
  PetscInt             longest_ = 0;
  PetscCount           terms_   = 0;
};

} // namespace sparsegpu::products
