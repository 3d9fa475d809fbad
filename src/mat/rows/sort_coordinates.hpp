/// The rows that coordinates in any order make, and which of the given entries make up each nonzero: a stable sort by
/// row and column. Entry perm[k], jmap[e] <= k < jmap[e + 1], belongs to nonzero e; without jmap, entry perm[e].
#pragma once

#include "device/buffer.hpp"

namespace sparsegpu::rows
{

struct SortedCoordinates {
  Array<PetscInt> i, j; ///< [rows + 1], [nonzeros], columns ascending
  Array<PetscInt> jmap; ///< [nonzeros + 1]; empty where no coordinate is given twice
  Array<PetscInt> perm; ///< [entries kept], of one nonzero ascending
};

/// Have `count` coordinates of a matrix of these sizes keys and numbers that the device can sort?
bool CanSortCoordinates(PetscInt rows, PetscInt cols, PetscCount count);
/// Sorts the coordinates i[k], j[k], k < count, in the space that all arrays lie in; an entry with a negative row or
/// column is ignored. On the device it takes some 50 bytes a coordinate beside the result; the host, slower than
/// PETSc's own, is for tests. Errors: PETSC_ERR_ARG_OUTOFRANGE, in PETSc's words, for a row or column beyond the last;
/// PETSC_ERR_MEM.
PetscErrorCode SortCoordinates(PetscInt rows, PetscInt cols, PetscCount count, const PetscInt *i, const PetscInt *j,
                               Space space, SortedCoordinates *sorted);

/// The bits of the numbers 0 ... most.
int BitsUpTo(PetscInt most);
/// Are these, the largest of the coordinates, within the matrix?
PetscErrorCode CheckLargest(PetscInt rows, PetscInt cols, PetscInt row, PetscInt col);
PetscErrorCode SortCoordinates_CUDA(PetscInt rows, PetscInt cols, PetscCount count, const PetscInt *i,
                                    const PetscInt *j, SortedCoordinates *sorted);

} // namespace sparsegpu::rows
