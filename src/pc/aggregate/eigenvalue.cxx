/// The largest eigenvalue of D^-1 A, which damping and smoothers are chosen by.
#include <petsc/private/matimpl.h>
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

PetscErrorCode BoundLargestEigenvalue(Mat A, Space space, PetscReal *largest)
{
  Source        source;
  Array<Scalar> sums;

  PetscFunctionBegin;
  *largest = 0;
  PetscCall(source.Take(A, space));
  const SparseRows &rows = source.rows;
  if (rows.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sums.Allocate(static_cast<size_t>(rows.rows), space));
  PetscCall(ForEach(space, rows.rows, BoundRow{rows.arrays, sums.data()}));
  PetscCall(values::Largest(space, rows.rows, sums.data(), largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Entry i of the vector depends on its global number alone: no rank count or backend gives another one.
static PetscErrorCode SetStart(Vec v)
{
  PetscInt     begin, end;
  PetscScalar *entries;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &entries));
  for (PetscInt i = begin; i < end; i++)
    entries[i - begin] =
        0.5 + static_cast<PetscReal>(Mix(i, 1) >> 40) / static_cast<PetscReal>(1 << 24) * (Mix(i, 2) & 1 ? 1 : -1);
  PetscCall(VecRestoreArrayWrite(v, &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EstimateLargestEigenvalue(Mat A, PetscInt iterations, PetscReal *largest)
{
  Vec       x, y, inverse;
  PetscReal before, after;

  PetscFunctionBegin;
  *largest = 0;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &inverse));
  PetscCall(MatGetDiagonal(A, inverse));
  PetscCall(VecReciprocal(inverse)); // leaves zeros alone
  PetscCall(SetStart(x));
  PetscCall(VecNorm(x, NORM_2, &before));
  for (PetscInt k = 0; k < iterations && before > 0; k++) {
    PetscCall(VecScale(x, 1 / before));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecPointwiseMult(x, inverse, y));
    PetscCall(VecNorm(x, NORM_2, &after));
    *largest = after;
    before   = after;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
