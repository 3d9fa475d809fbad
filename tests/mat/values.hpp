/// Matrices whose values a product hides from the host, with -sparsegpu_test_away.
#pragma once

#include "../family.hpp"

namespace testing
{

/// Entries that differ from each other, of one's own for `which`.
inline PetscErrorCode MakeMatrix(const Problem &p, const char type[], int which, Mat *A)
{
  Problem q = p;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < q.entries.size(); ++k) {
    q.entries[k].v = (PetscScalar)(0.5 + (PetscReal)((37 * k + 11 * (size_t)which) % 101) / 64);
#if defined(PETSC_USE_COMPLEX)
    q.entries[k].v += PETSC_i * (PetscReal)((17 * k) % 13) / 8;
#endif
  }
  PetscCall(CreateMatrix(q, type, strcmp(type, MATAIJ) ? "auto" : nullptr, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a product with A gives; it hides the values of ours.
inline PetscErrorCode Multiply(Mat A, std::vector<PetscScalar> *values)
{
  Vec                x, y;
  PetscInt           n;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetLocalSize(x, &n));
  for (PetscInt k = 0; k < n; ++k) PetscCall(VecSetValue(x, k, (PetscScalar)(1 + k % 7), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &array));
  values->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(y, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two sums of products in different orders: each entry to within 100 roundings of the largest.
inline PetscErrorCode Compare(const char name[], const std::vector<PetscScalar> &ours,
                              const std::vector<PetscScalar> &theirs)
{
  PetscReal largest = 0, off = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < theirs.size(); ++k) {
    largest = PetscMax(largest, PetscAbsScalar(theirs[k]));
    off     = PetscMax(off, PetscAbsScalar(ours[k] - theirs[k]));
    PetscCheck(ours[k] == ours[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %zu is no number", name, k);
  }
  PetscCheck(off <= 100 * PETSC_MACHINE_EPSILON * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is off by %g of %g",
             name, (double)off, (double)largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
