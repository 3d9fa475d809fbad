/// Orders of rows by keys: a row's colour, then its block; rows of a block remain in their own order.
#pragma once

#include "device/buffer.hpp"
#include "pc/ordering/grid.hpp"

namespace sparsegpu::ordering
{

struct RowKeys {
  Array<unsigned long long> key;                      ///< [rows] colour << block_bits | block
  int                       bits = 0, block_bits = 0; ///< of a key, of its block
  PetscInt                  colours = 0, blocks = 0;

  /// Room for keys of so many rows, colours and blocks.
  PetscErrorCode Allocate(Space space, PetscInt rows, PetscInt colours, PetscInt blocks);
};

/// Blocks of at most `block` rows that are boxes of a regular grid, with 2 colours, or 4 in two and 8 in three
/// dimensions. *found: false where no box has a whole node, A is no such grid or has entries that lead beyond the
/// neighbouring boxes. Waits. O(nonzeros), in A's space; on the host in up to so many threads, 8 at most.
PetscErrorCode KeysOfBoxes(const RowPattern &A, PetscInt block, int threads, RowKeys *keys, bool *found);
/// Blocks of at most `block` rows of any graph, which grow in rounds: roots, nodes no two of which are neighbours,
/// take in neighbours as long as they fit; then the blocks so far are the nodes. Waits. Rounds of O(nonzeros), in A's
/// space; on the device some 100 bytes for each pair of a chunk of entries and a block that it leads to. Errors:
/// PETSC_ERR_ARG_OUTOFRANGE where rows or pairs are too many to number; PETSC_ERR_MEM.
PetscErrorCode KeysOfGraph(const RowPattern &A, PetscInt block, RowKeys *keys);

/// *order [rows]: the rows by ascending keys, those of one key ascending. The keys are lost.
PetscErrorCode SortRows(Space space, RowKeys *keys, Array<PetscInt> *order);

} // namespace sparsegpu::ordering
