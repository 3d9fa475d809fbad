/// Dense products and triangular solves: BLAS for large operands, plain loops for small ones.
#include "pc/lu/dense.hpp"
#include <algorithm>
#include <petscblaslapack.h>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Multiplications below which plain loops are as fast.
constexpr PetscCount FEW = 2000;

const PetscScalar *Const(const Scalar *a)
{
  return reinterpret_cast<const PetscScalar *>(a);
}
PetscScalar *Plain(Scalar *a)
{
  return reinterpret_cast<PetscScalar *>(a);
}

PetscErrorCode Multiply(const char *transposed, PetscInt m, PetscInt n, PetscInt k, const Scalar *A, PetscInt lda,
                        const Scalar *B, PetscInt ldb, Scalar *C, PetscInt ldc)
{
  const PetscScalar minus = -1, one = 1;
  PetscBLASInt      bm, bn, bk, ba, bb, bc;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &bm));
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(k, &bk));
  PetscCall(PetscBLASIntCast(lda, &ba));
  PetscCall(PetscBLASIntCast(ldb, &bb));
  PetscCall(PetscBLASIntCast(ldc, &bc));
  PetscCallBLAS("BLASgemm",
                BLASgemm_(transposed, "N", &bm, &bn, &bk, &minus, Const(A), &ba, Const(B), &bb, &one, Plain(C), &bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Triangular(const char *side, const char *triangle, const char *transposed, const char *unit, PetscInt m,
                          PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx)
{
  const PetscScalar one = 1;
  PetscBLASInt      bm, bn, bt, bx;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &bm));
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(ldt, &bt));
  PetscCall(PetscBLASIntCast(ldx, &bx));
  PetscCallBLAS("BLAStrsm", BLAStrsm_(side, triangle, transposed, unit, &bm, &bn, &one, Const(T), &bt, Plain(X), &bx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t At(PetscInt i, PetscInt j, PetscInt ld)
{
  return static_cast<size_t>(j) * static_cast<size_t>(ld) + static_cast<size_t>(i);
}
} // namespace

PetscErrorCode SubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                               PetscInt ldb, Scalar *C, PetscInt ldc)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0 || k <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * k >= FEW) {
    PetscCall(Multiply("N", m, n, k, A, lda, B, ldb, C, ldc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt q = 0; q < k; q++) {
      const Scalar b = B[At(q, j, ldb)];
      for (PetscInt i = 0; i < m; i++) C[At(i, j, ldc)] = C[At(i, j, ldc)] - A[At(i, q, lda)] * b;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubtractLowerProduct(PetscInt n, PetscInt k, const Scalar *A, PetscInt lda, const Scalar *B,
                                    PetscInt ldb, Scalar *C, PetscInt ldc)
{
  constexpr PetscInt WIDTH = 64; // of a product: half its square on the diagonal is lost work

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; j += WIDTH)
    PetscCall(
        SubtractProduct(n - j, std::min(WIDTH, n - j), k, A + j, lda, B + At(0, j, ldb), ldb, C + At(j, j, ldc), ldc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubtractTransposedProduct(bool conjugate, PetscInt m, PetscInt n, PetscInt k, const Scalar *A,
                                         PetscInt lda, const Scalar *B, PetscInt ldb, Scalar *C, PetscInt ldc)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0 || k <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * k >= FEW) {
    PetscCall(Multiply(conjugate ? "C" : "T", m, n, k, A, lda, B, ldb, C, ldc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++) {
      Scalar sum(0);
      for (PetscInt q = 0; q < k; q++) {
        const Scalar &a = A[At(q, i, lda)];
        sum             = sum + (conjugate ? Conj(a) : a) * B[At(q, j, ldb)];
      }
      C[At(i, j, ldc)] = C[At(i, j, ldc)] - sum;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveUpperRight(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * n >= FEW) {
    PetscCall(Triangular("R", "U", "N", "N", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++) {
    const Scalar inverse = Inverse(T[At(j, j, ldt)]);
    for (PetscInt q = 0; q < j; q++) {
      const Scalar u = T[At(q, j, ldt)];
      for (PetscInt i = 0; i < m; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] - X[At(i, q, ldx)] * u;
    }
    for (PetscInt i = 0; i < m; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] * inverse;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveUnitLower(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "L", "N", "U", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt q = 0; q < m; q++)
      for (PetscInt i = q + 1; i < m; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] - T[At(i, q, ldt)] * X[At(q, j, ldx)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveUpper(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "U", "N", "N", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt q = m - 1; q >= 0; q--) {
      X[At(q, j, ldx)] = X[At(q, j, ldx)] * Inverse(T[At(q, q, ldt)]);
      for (PetscInt i = 0; i < q; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] - T[At(i, q, ldt)] * X[At(q, j, ldx)];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveUnitLowerTransposed(bool conjugate, PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt,
                                        Scalar *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "L", conjugate ? "C" : "T", "U", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = m - 1; i >= 0; i--) {
      Scalar sum = X[At(i, j, ldx)];
      for (PetscInt q = i + 1; q < m; q++) {
        const Scalar &t = T[At(q, i, ldt)];
        sum             = sum - (conjugate ? Conj(t) : t) * X[At(q, j, ldx)];
      }
      X[At(i, j, ldx)] = sum;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveUpperTransposed(PetscInt m, PetscInt n, const Scalar *T, PetscInt ldt, Scalar *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "U", "T", "N", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++) {
      Scalar sum = X[At(i, j, ldx)];
      for (PetscInt q = 0; q < i; q++) sum = sum - T[At(q, i, ldt)] * X[At(q, j, ldx)];
      X[At(i, j, ldx)] = sum * Inverse(T[At(i, i, ldt)]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
