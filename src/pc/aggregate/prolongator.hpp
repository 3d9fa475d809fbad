/// The smoothed prolongator's pattern and values, in one space. Its rows are blocks: each row of a node has the columns
/// of the same aggregates, `vectors` neighbouring ones of each.
#pragma once

#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "mat/products/multiply.hpp"
#include "pc/aggregate/names.hpp"

namespace sparsegpu::aggregate
{

/// The node of an unknown. A division takes longer than all else that is done to an entry.
SPARSEGPU_HD PetscInt NodeOf(PetscInt unknown, PetscInt block_size)
{
  return block_size == 1 ? unknown : unknown / block_size;
}

/// A may have more columns than rows, those of the nodes that follow; P has the rows of A.
struct ProlongatorInput {
  SparseRows           A;
  PetscInt             nodes, block_size, aggregates, vectors; ///< nodes: that have rows
  const PetscInt      *of;                                     ///< [nodes of columns]
  const PetscInt      *begin, *members;                        ///< of the aggregates
  const Scalar        *P0;                                     ///< [columns of A * vectors] by rows
  const unsigned char *strong;                                 ///< [nonzeros of A] entries that are kept; null: all are
  PetscReal            damping;                                ///< 0: nothing is smoothed
  bool                 blocks;                                 ///< D has the blocks of nodes; else single unknowns
  bool                 whole = false;                          ///< A's rows are known to be made of the blocks of nodes
};

/// Aggregates of the row of each node, ascending; none where the node is in no aggregate.
struct ProlongatorPattern {
  Array<PetscInt> i, j;        ///< [nodes + 1], [entries]
  PetscInt        longest = 0; ///< row, in aggregates; on the host 0
};
/// Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
PetscErrorCode FindProlongatorPattern(Space space, const ProlongatorInput &input, ProlongatorPattern *pattern);
/// The same of entries: i [rows + 1], j; aggregate c has columns `vectors` c and those that follow. Errors: as before.
PetscErrorCode FindProlongatorRows(Space space, const ProlongatorInput &input, Array<PetscInt> *i, Array<PetscInt> *j);
/// p [nonzeros] of P, whose pattern is i, j. Asynchronous on the device.
PetscErrorCode FindProlongatorValues(Space space, const ProlongatorInput &input, const PetscInt *i, const PetscInt *j,
                                     Scalar *p);

PetscErrorCode FindProlongatorPattern_CUDA(const ProlongatorInput &input, ProlongatorPattern *pattern);
PetscErrorCode FindProlongatorValues_CUDA(const ProlongatorInput &input, const PetscInt *i, const PetscInt *j,
                                          Scalar *p);

} // namespace sparsegpu::aggregate
