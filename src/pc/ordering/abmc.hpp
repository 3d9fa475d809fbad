/// Algebraic block multi-colouring: an ordering whose factors have few levels, so that triangular solves run in
/// parallel, at a small price in iterations. Iwashita, Nakashima, Takahashi, "Algebraic Block Multi-Color Ordering
/// Method for Parallel Multi-Threaded Sparse Triangular Solver in ICCG Method", IPDPS 2012.
#pragma once

#include "pc/ordering/grid.hpp"

namespace sparsegpu::ordering
{

struct BlockColours {
  PetscInt    blocks = 0, colours = 0;
  const char *way = ""; ///< what the blocks are, for -info
};

/// order [rows], on the host: the row that comes k-th. The rows of the graph A, an edge in one direction or both, are
/// gathered into blocks of at most `block` rows, blocks get colours so that no two of one colour are neighbours (unless
/// they need more than 64), and rows are taken colour by colour, block by block, in their own order within a block.
/// Blocks of a regular grid are boxes, the same ones in both spaces. Those of other graphs are grown breadth first on
/// the host and by rounds (keys.hpp) on the device. The order is the same on each call and for any number of threads.
/// block 0: what suits them. threads: of the host at most, 0: as many as there are cores. O(nonzeros), in A's
/// space. Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE where the device cannot number pairs of blocks.
PetscErrorCode BlockMulticolour(const RowPattern &A, PetscInt block, PetscInt *order, BlockColours *found,
                                int threads = 0);

/// MatOrderingRegister() of MATORDERINGABMC.
PetscErrorCode RegisterOrderings();

} // namespace sparsegpu::ordering
