/// Algebraic block multi-colouring: an ordering whose factors have few levels, so that triangular solves run in
/// parallel, at a small price in iterations. Iwashita, Nakashima, Takahashi, "Algebraic Block Multi-Color Ordering
/// Method for Parallel Multi-Threaded Sparse Triangular Solver in ICCG Method", IPDPS 2012.
#pragma once

#include <vector>
#include <petscsys.h>

namespace sparsegpu::ordering
{

/// order[k]: the row that comes k-th. The rows of the graph i [rows + 1], j, an edge in one direction or both, are
/// gathered into connected blocks of at most `block` rows, blocks get colours so that no two of one colour are
/// neighbours (unless they need more than 64), and rows are taken colour by colour, block by block, in their own
/// order within a block. *colours: how many. O(rows + edges). Blocks lie within one of up to 8 ranges of rows, which
/// threads search side by side; the order is the same for any number of them. threads 0: as many as there are cores.
PetscErrorCode BlockMulticolour(PetscInt rows, const PetscInt *i, const PetscInt *j, PetscInt block,
                                std::vector<PetscInt> *order, PetscInt *colours, int threads = 0);

/// MatOrderingRegister() of MATORDERINGABMC.
PetscErrorCode RegisterOrderings();

} // namespace sparsegpu::ordering
