/// Some rows of a sparse matrix in host memory, and the way from there to a Mat.
#pragma once

#include <vector>

#include <petscmat.h>

#include "petsc/compat.hpp"

/// Compressed sparse rows: row r of these has the entries start[r] ... start[r + 1] - 1.
struct Rows {
  PetscInt                 rows = 0, cols = 0; ///< of the whole matrix
  std::vector<PetscInt>    start{0};           ///< [rows held + 1]
  std::vector<PetscInt>    column;             ///< [start.back()] numbered in the whole matrix
  std::vector<PetscScalar> value;              ///< [start.back()]
};

/// Sorts every row by column and adds up entries of the same place; O(entries log(longest row)).
PetscErrorCode SortRows(Rows *rows);

/// Sends each rank of `comm` its share of `all`, which rank 0 holds and loses; [rows held] is PETSc's usual split.
/// Collective.
PetscErrorCode ScatterRows(MPI_Comm comm, Rows *all, Rows *mine);

/// Makes the matrix of which each rank holds the rows `mine`, of the type that the options say (-mat_type; default
/// MATAIJ) and of block size `block`, which must divide every rank's share. Collective.
PetscErrorCode MatFromRows(MPI_Comm comm, const Rows &mine, PetscInt block, Mat *A);
