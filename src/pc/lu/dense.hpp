/// Dense pieces of a front on the host: PETSc's BLAS, or plain loops where a call would cost more than the work.
/// Matrices are column-major, ld.. entries from column to column.
#pragma once

#include "device/scalar.hpp"

namespace sparsegpu::lu
{

/// C [m x n] -= A [m x k] B [k x n].
PetscErrorCode SubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                               PetscInt ldb, Scalar *C, PetscInt ldc);
/// The same for the lower triangle of C [n x n]. Entries above it become meaningless.
PetscErrorCode SubtractLowerProduct(PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                                    PetscInt ldb, Scalar *C, PetscInt ldc);
/// C [m x n] -= A^T B, or A^H B if `conjugate`, A [k x m].
PetscErrorCode SubtractTransposedProduct(bool conjugate, PetscInt m, PetscInt n, PetscInt k, const Scalar *A,
                                         PetscInt lda, const Scalar *B, PetscInt ldb, Scalar *C, PetscInt ldc);
/// X [m x n] = X U^-1, U the upper triangle of T [n x n].
PetscErrorCode SolveUpperRight(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx);
/// X [m x n] = L^-1 X, L the lower triangle of T [m x m] with a unit diagonal.
PetscErrorCode SolveUnitLower(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx);
/// The same with U, and with the transposed triangles; `conjugate`: L^H instead of L^T.
PetscErrorCode SolveUpper(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx);
PetscErrorCode SolveUnitLowerTransposed(bool conjugate, PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt,
                                        Scalar *X, PetscInt ldx);
PetscErrorCode SolveUpperTransposed(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx);

} // namespace sparsegpu::lu
