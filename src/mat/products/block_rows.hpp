/// Rows that are made of full blocks, as those of nodes with several unknowns: their products are made of blocks, too,
/// and are found and summed by blocks. On the device alone.
#pragma once

#include "mat/products/multiply.hpp"

namespace sparsegpu::products
{

/// The blocks of one matrix's rows, on the device.
class BlockRows
{
public:
  /// Whether `rows`, which lie on the device, are made of blocks of that size, which is one of BLOCK_SIZES: then view()
  /// has them until the next call. Waits for the device. Errors: PETSC_ERR_MEM.
  PetscErrorCode   Find(const SparseRows &rows, PetscInt row_size, PetscInt column_size);
  const BlockView &view() const { return view_; }

private:
  Array<PetscInt> i_, j_;
  BlockView       view_;
};

/// Rows and columns of A's blocks, and columns of B's, that MultiplyBlocks() takes: those of a matrix with itself, with
/// interpolation from as many unknowns a node or from rigid body modes, and of P^T (A P).
constexpr int BLOCK_SIZES[][3] = {{2, 2, 2}, {2, 2, 3}, {3, 2, 3}, {3, 3, 3}, {3, 3, 6},
                                  {6, 3, 6}, {6, 6, 6}, {4, 4, 4}, {5, 5, 5}};

/// Whether both are made of blocks, of such sizes.
bool BlocksMultiply(const BlockView &A, const BlockView &B);
/// The pattern of the blocks of A B, both made of blocks that multiply. terms: of entries. Waits for the device.
/// Errors: those of MultiplyPattern(), PETSC_ERR_ARG_OUTOFRANGE also where PetscInt does not count the entries of the
/// blocks.
PetscErrorCode MultiplyBlockPattern(const SparseRows &A, const SparseRows &B, Pattern *blocks);
/// A B, of that pattern, by blocks alone. values [nonzeros], or null.
SparseRows RowsOfBlocks(const SparseRows &A, const SparseRows &B, const Pattern &blocks, const Scalar *values);

/// The pattern of the entries of `rows`, whose blocks' pattern is `blocks`. Asynchronous. Errors: PETSC_ERR_MEM.
PetscErrorCode ExpandBlocks(const SparseRows &rows, const Pattern &blocks, Pattern *entries);
/// c = the values of A B, by rows, where C has the blocks of their product, ascending, and no row of blocks more than
/// `longest`. Each is summed in an order that depends on the patterns alone. Asynchronous.
PetscErrorCode MultiplyBlocks(const SparseRows &A, const SparseRows &B, const BlockView &C, PetscInt longest,
                              Scalar *c);

// On the device.
PetscErrorCode FindFullBlocks_CUDA(const SparseRows &rows, PetscInt row_size, PetscInt column_size, PetscInt *i,
                                   PetscInt *j, bool *found);
PetscErrorCode ExpandBlocks_CUDA(const Pattern &blocks, PetscInt row_size, PetscInt column_size, PetscInt *i,
                                 PetscInt *j);
PetscErrorCode MultiplyBlocks_CUDA(const SparseRows &A, const SparseRows &B, const BlockView &C, PetscInt longest,
                                   Scalar *c);

} // namespace sparsegpu::products
