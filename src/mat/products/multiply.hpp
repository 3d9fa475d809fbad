/// C = A B for sparse A and B: the pattern once, the values as often as those of A and B change. A row of C is the sum
/// of rows of B, one for each entry of A's row: Gustavson, ACM Trans. Math. Software 4(3), 1978.
#pragma once

#include "device/buffer.hpp"
#include "mat/products/names.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::products
{

/// The pattern of the full blocks that rows are made of: each row of a block row has their columns, block by block.
struct BlockView {
  PetscInt        row_size = 1, column_size = 1;
  const PetscInt *i = nullptr, *j = nullptr; ///< [rows / row_size + 1], [blocks]; null: none are known
};

/// Compressed sparse rows in one space; none has a column twice.
struct SparseRows {
  PetscInt rows = 0, cols = 0, nonzeros = 0;
  /// i [rows + 1], j [nonzeros], a [nonzeros]; a may be null where the pattern alone is read, i and j where blocks are.
  CsrArrays arrays;
  BlockView blocks = {}; ///< of a known size; i is null unless the rows are known to be made of such
};

/// The pattern of C = A B.
struct Pattern {
  Array<PetscInt> i, j;        ///< [rows + 1], [nonzeros] columns ascend
  PetscInt        longest = 0; ///< row
  PetscCount      terms   = 0; ///< products a b that C is made of
  /// [nonzeros of A] in which entry of C's row the term of each is, where each row of B has one entry, as those of
  /// interpolation that is constant on aggregates, and no row of C more than PLACES; else empty. On the device alone.
  Array<unsigned char>      place;
  static constexpr PetscInt PLACES = 16;
};

/// The pattern of A B in `space`, of all columns that some a_ik b_kj has, zero or not. Waits for the device. Errors:
/// PETSC_ERR_ARG_OUTOFRANGE where C has more nonzeros, or a row more terms, than the indices can number; PETSC_ERR_MEM.
PetscErrorCode MultiplyPattern(Space space, const SparseRows &A, const SparseRows &B, Pattern *C);
/// c [nonzeros of C] = the values of A B where C, whose rows have at most `longest` entries, has some; each is summed
/// in a fixed order: the same bits each time. place: of the Pattern of these very factors, or null. *lost [1] in
/// `space`, if asked for, is set to 1 where C lacks an entry, and left alone elsewhere. Asynchronous on the device.
PetscErrorCode MultiplyValues(Space space, const SparseRows &A, const SparseRows &B, const SparseRows &C,
                              PetscInt longest, const unsigned char *place, Scalar *c, int *lost);

// The backends.
PetscErrorCode MultiplyPattern_CUDA(const SparseRows &A, const SparseRows &B, Pattern *C);
PetscErrorCode MultiplyValues_CUDA(const SparseRows &A, const SparseRows &B, const SparseRows &C, PetscInt longest,
                                   const unsigned char *place, Scalar *c, int *lost);

} // namespace sparsegpu::products
