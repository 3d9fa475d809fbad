/// Products of a matrix in one format, one after the other in one array.
#pragma once

#include "../testing.hpp"
#include <algorithm>
#include <limits>
#include <vector>
#include "../family.hpp"
#include "grids.hpp"

namespace grids
{

inline PetscErrorCode Append(Vec z, std::vector<PetscScalar> *product)
{
  std::vector<PetscScalar> entries;

  PetscFunctionBeginUser;
  PetscCall(testing::LocalEntries(z, &entries));
  product->insert(product->end(), entries.begin(), entries.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A x with x on the device, one entry behind the beginning of an array, where there are such vectors.
inline PetscErrorCode ProductFurther(Mat A, Vec x, std::vector<PetscScalar> *product)
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscInt           n, cols;
  Vec                all, further, z;
  const PetscScalar *from;
  PetscScalar       *to, *there;
  PetscBool          device;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(A, &n, &cols));
  PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, cols + 1, &all));
  PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, n, &z));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(all, &to));
  to[0] = std::numeric_limits<PetscReal>::quiet_NaN();
  std::copy_n(from, cols, to + 1);
  PetscCall(VecRestoreArrayWrite(all, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCall(VecCUDAGetArray(all, &there));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, cols, there + 1, &further));
  PetscCall(MatMult(A, further, z));
  PetscCall(Append(z, product));
  PetscCall(VecDestroy(&further));
  PetscCall(VecCUDARestoreArray(all, &there));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&z));
#else
  (void)A;
  (void)x;
  (void)product;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A X for two columns.
inline PetscErrorCode ProductOfColumns(Mat A, Vec x, std::vector<PetscScalar> *product)
{
  PetscInt n, cols;
  Mat      X, Z;
  Vec      column;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, &cols));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, cols, 2, nullptr, &X));
  for (PetscInt c : {0, 1}) {
    PetscCall(MatDenseGetColumnVecWrite(X, c, &column));
    PetscCall(VecCopy(x, column));
    PetscCall(VecScale(column, (PetscReal)(c + 1)));
    PetscCall(MatDenseRestoreColumnVecWrite(X, c, &column));
  }
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Z));
  for (PetscInt c : {0, 1}) {
    PetscCall(MatDenseGetColumnVecRead(Z, c, &column));
    PetscCall(Append(column, product));
    PetscCall(MatDenseRestoreColumnVecRead(Z, c, &column));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A x, A x + y and the same in place in this format, and products with other vectors; one x is infinite.
inline PetscErrorCode Products(Mat A, const char format[], std::vector<PetscScalar> *product)
{
  Vec              x, y, z;
  PetscScalar     *array;
  PetscInt         n, cols;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, &cols));
  PetscCall(MatSparseGPUSetFormat(A, format));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetArrayWrite(x, &array));
  for (PetscInt c = 0; c < cols; ++c) array[c] = conformance::Value(1000 + (unsigned long long)c);
  array[n / 3] = std::numeric_limits<PetscReal>::infinity();
  PetscCall(VecRestoreArrayWrite(x, &array));
  PetscCall(VecSet(y, (PetscReal)0.7));
  product->clear();
  for (int add : {0, 1, 2}) {
    PetscCall(VecSet(z, (PetscReal)(add == 2 ? 0.7 : 77)));
    PetscCall(add ? MatMultAdd(A, x, add == 2 ? z : y, z) : MatMult(A, x, z));
    PetscCall(Append(z, product));
  }
  PetscCall(ProductFurther(A, x, product));
  PetscCall(ProductOfColumns(A, x, product));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCheck(!strcmp(info.format, format), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Multiplied as %s, not as %s", info.format,
             format);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace grids
