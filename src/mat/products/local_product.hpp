/// The part of a product of parallel matrices that one rank computes: L R, T^T R, T^T (L R) or T^T of rows that it has.
/// What depends on the patterns alone is made once.
#pragma once

#include "mat/products/transposed_rows.hpp"

namespace sparsegpu::products
{

/// All in one space; null where there is none.
struct LocalFactors {
  const SparseRows *transposed, *left, *right;
};

class LocalProduct
{
public:
  /// Finds the pattern. `transposed`: T as TransposedRows::Find() takes it, null for none.
  /// Waits for the device. Errors: those of MultiplyPattern().
  PetscErrorCode FindPattern(Space space, const LocalFactors &factors, const CsrView *transposed);
  /// Takes the memory that FindValues() writes to. Errors: PETSC_ERR_MEM.
  PetscErrorCode Reserve();
  /// c [nonzeros of the result] = its values. Bitwise reproducible. Asynchronous on the device.
  PetscErrorCode FindValues(const LocalFactors &factors, Scalar *c);
  /// The pattern, as long as this lives, without values.
  SparseRows Result() const;
  /// Of FindValues().
  PetscLogDouble flops() const { return 2.0 * static_cast<PetscLogDouble>(inner_.terms + result_.terms); }

private:
  SparseRows Inner(const LocalFactors &factors) const;

  Space          space_ = Space::Host;
  bool           alone_ = false; ///< T^T is the result
  PetscInt       cols_  = 0;     ///< of the result, unless it is T^T
  TransposedRows transpose_;
  Pattern        inner_; ///< of L R where there is T, too
  Array<Scalar>  inner_values_;
  Pattern        result_; ///< unless it is T^T
};

} // namespace sparsegpu::products
