/// Dense pieces of a front on the host: PETSc's BLAS, or plain loops where a call would cost more than the work.
/// Matrices are column-major, ld.. entries from column to column. Number: Scalar or Single.
#pragma once

#include "device/single.hpp"

namespace sparsegpu::lu
{

/// C [m x n] -= A [m x k] B [k x n].
template <class Number> PetscErrorCode SubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A,
                                                       PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                       PetscInt ldc);
/// The same for the lower triangle of C [n x n]. Entries above it become meaningless.
template <class Number> PetscErrorCode SubtractLowerProduct(PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                                            const Number *B, PetscInt ldb, Number *C, PetscInt ldc);
/// C [m x n] -= A^T B, or A^H B if `conjugate`, A [k x m].
template <class Number> PetscErrorCode SubtractTransposedProduct(bool conjugate, PetscInt m, PetscInt n, PetscInt k,
                                                                 const Number *A, PetscInt lda, const Number *B,
                                                                 PetscInt ldb, Number *C, PetscInt ldc);
/// X [m x n] = X U^-1, U the upper triangle of T [n x n].
template <class Number>
PetscErrorCode SolveUpperRight(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx);
/// X [m x n] = L^-1 X, L the lower triangle of T [m x m] with a unit diagonal.
template <class Number>
PetscErrorCode SolveUnitLower(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx);
/// The same with U, and with the transposed triangles; `conjugate`: L^H instead of L^T.
template <class Number>
PetscErrorCode SolveUpper(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx);
template <class Number> PetscErrorCode SolveUnitLowerTransposed(bool conjugate, PetscInt m, PetscInt n, const Number *T,
                                                                PetscInt ldt, Number *X, PetscInt ldx);
template <class Number>
PetscErrorCode SolveUpperTransposed(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx);

} // namespace sparsegpu::lu
