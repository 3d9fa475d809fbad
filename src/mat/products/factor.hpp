/// A factor of a product of matrices: the rows of a matrix, or of its transpose, in the space of the product.
#pragma once

#include "mat/products/block_rows.hpp"
#include "mat/products/pattern_watch.hpp"
#include "mat/products/transposed_rows.hpp"

namespace sparsegpu::products
{

class Factor
{
public:
  explicit Factor(bool transposed) : transposed_(transposed) {}

  /// The rows as they are now, their values if asked for, until the next call or change. What a transpose takes stays
  /// for the next one; the rows themselves stay in the matrix's Rows. With their `blocks`, of the
  /// matrix's block sizes, on the device if asked for, where they are made of such. Errors: PETSC_ERR_MEM.
  PetscErrorCode    Bring(Mat M, Rows *rows, Space space, bool values, bool blocks);
  const SparseRows &rows() const { return view_; }
  /// Is the pattern another one than at the Bring() before?
  bool changed() const { return changed_; }
  bool transposed() const { return transposed_; }

private:
  bool         transposed_;
  SparseRows   view_;
  PatternWatch watch_;
  bool         changed_ = false;
  BlockRows    blocks_;

  Version        values_ = 0; ///< whose transpose is there
  TransposedRows transpose_;
};

} // namespace sparsegpu::products
