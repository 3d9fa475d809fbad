/// The transpose of compressed sparse rows: the pattern is made once, values are permuted into it.
#pragma once

#include "mat/products/multiply.hpp"

namespace sparsegpu::products
{

class TransposedRows
{
public:
  /// csr: the rows, in csr.device where `space` is the device. Their values are not read. Errors: PETSC_ERR_MEM.
  PetscErrorCode Find(const CsrView &csr, Space space);
  /// Memory for the values. Errors: PETSC_ERR_MEM.
  PetscErrorCode Reserve();
  /// a [nonzeros]: the values of the rows now. Asynchronous on the device.
  PetscErrorCode TakeValues(const Scalar *a);
  /// transposed [nonzeros] = a in the order of the transpose, which does not keep them. Asynchronous on the device.
  PetscErrorCode PermuteValues(const Scalar *a, Scalar *transposed) const;
  /// The transpose; its values are those of the last TakeValues().
  SparseRows rows() const;

private:
  Space           space_ = Space::Host;
  PetscInt        rows_ = 0, cols_ = 0; ///< of the transpose
  Array<PetscInt> i_, j_, from_;        ///< [rows_ + 1], [nonzeros], [nonzeros] the entry that each is
  Array<Scalar>   a_;                   ///< [nonzeros]
};

} // namespace sparsegpu::products
