/// Matrices whose rows are made of blocks.
#pragma once

#include "../testing.hpp"
#include "sparsegpu.h"

#include <functional>
#include <string>
#include <vector>

namespace block_matrices
{

/// Rows and columns of blocks, the blocks' sizes, and which columns of blocks a row of them has.
struct Shape {
  PetscInt                                rows, cols, row_size, column_size;
  std::function<bool(PetscInt, PetscInt)> has;
};

/// Few values, so that sums are exact.
inline PetscScalar Value(PetscInt k)
{
  const PetscReal v = (PetscReal)((7919 * k) % 5 - 2) / 2;
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(v, (PetscReal)(k % 3 - 1) / 2);
#else
  return v;
#endif
}

/// `broken`: an entry of the first block is missing.
inline PetscErrorCode Fill(const Shape &s, PetscInt seed, bool broken, Mat A)
{
  const PetscInt r = s.row_size, c = s.column_size;
  PetscInt       begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin / r; i < end / r; ++i)
    for (PetscInt j = 0; j < s.cols; ++j) {
      if (!s.has(i, j)) continue;
      for (PetscInt k = i * r; k < (i + 1) * r; ++k)
        for (PetscInt l = j * c; l < (j + 1) * c; ++l) {
          if (broken && k == r - 1 && l == c - 1) continue;
          PetscCall(MatSetValue(A, k, l, Value(3 * k + 5 * l + seed), INSERT_VALUES));
        }
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As Fill(). Blocks are on one process each.
inline PetscErrorCode Create(const std::string &backend, const Shape &s, PetscInt seed, bool broken, Mat *A)
{
  const PetscInt        r = s.row_size, c = s.column_size;
  PetscInt              rows = PETSC_DECIDE, cols = PETSC_DECIDE, all_rows = s.rows, all_cols = s.cols, begin, first;
  std::vector<PetscInt> lengths, others;

  PetscFunctionBeginUser;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &rows, &all_rows));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &cols, &all_cols));
  PetscCallMPI(MPI_Scan(&rows, &begin, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Scan(&cols, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  begin -= rows;
  first -= cols;
  lengths.assign((size_t)(rows * r), 0);
  others = lengths;
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt j = 0; j < s.cols; ++j)
      for (PetscInt k = 0; s.has(begin + i, j) && k < r; ++k)
        (j < first || j >= first + cols ? others : lengths)[(size_t)(i * r + k)] += c;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, rows * r, cols * c, s.rows * r, s.cols * c));
  PetscCall(MatSetBlockSizes(*A, r, c));
  PetscCall(MatSetType(*A, backend == "aij" ? MATAIJ : MATSPARSEGPU));
  if (backend != "aij") PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, lengths.data()));
  PetscCall(MatMPIAIJSetPreallocation(*A, 0, lengths.data(), 0, others.data()));
  PetscCall(Fill(s, seed, broken, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace block_matrices
