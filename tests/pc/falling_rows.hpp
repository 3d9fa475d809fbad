/// Parallel matrices whose rows are in falling order.
#pragma once

#include <petscmat.h>
#include <vector>
#include "petsc/compat.hpp"

namespace testing
{

/// A's rows with the columns of each block in falling order, in arrays that live as long as the matrix.
struct Reversed {
  std::vector<PetscInt>    i[2], j[2];
  std::vector<PetscScalar> a[2];
  Mat                      matrix = nullptr;

  PetscErrorCode Take(Mat A);
};

inline PetscErrorCode Reversed::Take(Mat A)
{
  PetscInt rows, columns, begin, end, first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetOwnershipRangeColumn(A, &first, &last));
  for (int b = 0; b < 2; ++b) i[b].push_back(0);
  for (PetscInt r = begin; r < end; ++r) {
    PetscInt           n;
    const PetscInt    *column;
    const PetscScalar *value;
    PetscCall(MatGetRow(A, r, &n, &column, &value));
    for (PetscInt e = n - 1; e >= 0; --e) {
      const int b = column[e] < first || column[e] >= last;
      j[b].push_back(b ? column[e] : column[e] - first);
      a[b].push_back(value[e]);
    }
    PetscCall(MatRestoreRow(A, r, &n, &column, &value));
    for (int b = 0; b < 2; ++b) i[b].push_back((PetscInt)j[b].size());
  }
  PetscCall(MatCreateMPIAIJWithSplitArrays(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE,
                                           i[0].data(), j[0].data(), a[0].data(), i[1].data(), j[1].data(), a[1].data(),
                                           &matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
