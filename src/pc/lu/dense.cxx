/// Dense products and triangular solves: BLAS for large operands, plain loops for small ones.
#include "pc/lu/dense.hpp"
#include <algorithm>
#include <petscblaslapack.h>
#include "petsc/compat.hpp"

// PETSc's header declares BLAS for its own precision; names of Fortran are made as there.
#if defined(PETSC_BLASLAPACK_CAPS)
  #define SPARSEGPU_BLAS(lower, upper) PETSC_PASTE2(upper, PETSC_BLASLAPACK_SUFFIX_)
#else
  #define SPARSEGPU_BLAS(lower, upper) PETSC_PASTE2(lower, PETSC_BLASLAPACK_SUFFIX_)
#endif
#if defined(PETSC_USE_COMPLEX)
  #include <complex>
using SingleOfBlas = std::complex<float>;
  #define SPARSEGPU_SINGLE_GEMM SPARSEGPU_BLAS(cgemm, CGEMM)
  #define SPARSEGPU_SINGLE_TRSM SPARSEGPU_BLAS(ctrsm, CTRSM)
#else
using SingleOfBlas = float;
  #define SPARSEGPU_SINGLE_GEMM SPARSEGPU_BLAS(sgemm, SGEMM)
  #define SPARSEGPU_SINGLE_TRSM SPARSEGPU_BLAS(strsm, STRSM)
#endif
#if !defined(PETSC_USE_REAL_SINGLE)
extern "C" void SPARSEGPU_SINGLE_GEMM(const char *, const char *, const PetscBLASInt *, const PetscBLASInt *,
                                      const PetscBLASInt *, const SingleOfBlas *, const SingleOfBlas *,
                                      const PetscBLASInt *, const SingleOfBlas *, const PetscBLASInt *,
                                      const SingleOfBlas *, SingleOfBlas *, const PetscBLASInt *);
extern "C" void SPARSEGPU_SINGLE_TRSM(const char *, const char *, const char *, const char *, const PetscBLASInt *,
                                      const PetscBLASInt *, const SingleOfBlas *, const SingleOfBlas *,
                                      const PetscBLASInt *, SingleOfBlas *, const PetscBLASInt *);
#endif

namespace sparsegpu::lu
{

namespace
{
/// Multiplications below which plain loops are as fast.
constexpr PetscCount FEW = 2000;

template <class Number, class... Arguments> void Gemm(Arguments... arguments)
{
  if constexpr (std::is_same<Number, Scalar>::value)
    BLASgemm_(arguments...);
  else
    SPARSEGPU_SINGLE_GEMM(arguments...);
}
template <class Number, class... Arguments> void Trsm(Arguments... arguments)
{
  if constexpr (std::is_same<Number, Scalar>::value)
    BLAStrsm_(arguments...);
  else
    SPARSEGPU_SINGLE_TRSM(arguments...);
}
/// The type of BLAS for Number, which has its layout.
template <class Number> using Plain =
    typename std::conditional<std::is_same<Number, Scalar>::value, PetscScalar, SingleOfBlas>::type;
template <class Number> const Plain<Number> *Take(const Number *a)
{
  return reinterpret_cast<const Plain<Number> *>(a);
}
template <class Number> Plain<Number> *Take(Number *a)
{
  return reinterpret_cast<Plain<Number> *>(a);
}

template <class Number> PetscErrorCode Multiply(const char *transposed, PetscInt m, PetscInt n, PetscInt k,
                                                const Number *A, PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                PetscInt ldc)
{
  const Plain<Number> minus = -1, one = 1;
  PetscBLASInt        bm, bn, bk, ba, bb, bc;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &bm));
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(k, &bk));
  PetscCall(PetscBLASIntCast(lda, &ba));
  PetscCall(PetscBLASIntCast(ldb, &bb));
  PetscCall(PetscBLASIntCast(ldc, &bc));
  PetscCallBLAS("BLASgemm",
                Gemm<Number>(transposed, "N", &bm, &bn, &bk, &minus, Take(A), &ba, Take(B), &bb, &one, Take(C), &bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode Triangular(const char *side, const char *triangle, const char *transposed,
                                                  const char *unit, PetscInt m, PetscInt n, const Number *T,
                                                  PetscInt ldt, Number *X, PetscInt ldx)
{
  const Plain<Number> one = 1;
  PetscBLASInt        bm, bn, bt, bx;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &bm));
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(ldt, &bt));
  PetscCall(PetscBLASIntCast(ldx, &bx));
  PetscCallBLAS("BLAStrsm", Trsm<Number>(side, triangle, transposed, unit, &bm, &bn, &one, Take(T), &bt, Take(X), &bx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t At(PetscInt i, PetscInt j, PetscInt ld)
{
  return static_cast<size_t>(j) * static_cast<size_t>(ld) + static_cast<size_t>(i);
}
} // namespace

template <class Number> PetscErrorCode SubtractProduct(PetscInt m, PetscInt n, PetscInt k, const Number *A,
                                                       PetscInt lda, const Number *B, PetscInt ldb, Number *C,
                                                       PetscInt ldc)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0 || k <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * k >= FEW) {
    PetscCall(Multiply("N", m, n, k, A, lda, B, ldb, C, ldc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt q = 0; q < k; q++) {
      const Number b = B[At(q, j, ldb)];
      for (PetscInt i = 0; i < m; i++) C[At(i, j, ldc)] = C[At(i, j, ldc)] - A[At(i, q, lda)] * b;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SubtractLowerProduct(PetscInt n, PetscInt k, const Number *A, PetscInt lda,
                                                            const Number *B, PetscInt ldb, Number *C, PetscInt ldc)
{
  constexpr PetscInt WIDTH = 64; // of a product: half its square on the diagonal is lost work

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; j += WIDTH)
    PetscCall(
        SubtractProduct(n - j, std::min(WIDTH, n - j), k, A + j, lda, B + At(0, j, ldb), ldb, C + At(j, j, ldc), ldc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode SubtractTransposedProduct(bool conjugate, PetscInt m, PetscInt n, PetscInt k,
                                                                 const Number *A, PetscInt lda, const Number *B,
                                                                 PetscInt ldb, Number *C, PetscInt ldc)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0 || k <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * k >= FEW) {
    PetscCall(Multiply(conjugate ? "C" : "T", m, n, k, A, lda, B, ldb, C, ldc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++) {
      Number sum(0);
      for (PetscInt q = 0; q < k; q++) {
        const Number &a = A[At(q, i, lda)];
        sum             = sum + (conjugate ? Conj(a) : a) * B[At(q, j, ldb)];
      }
      C[At(i, j, ldc)] = C[At(i, j, ldc)] - sum;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode SolveUpperRight(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * n * n >= FEW) {
    PetscCall(Triangular("R", "U", "N", "N", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++) {
    const Number inverse = Inverse(T[At(j, j, ldt)]);
    for (PetscInt q = 0; q < j; q++) {
      const Number u = T[At(q, j, ldt)];
      for (PetscInt i = 0; i < m; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] - X[At(i, q, ldx)] * u;
    }
    for (PetscInt i = 0; i < m; i++) X[At(i, j, ldx)] = X[At(i, j, ldx)] * inverse;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode SolveUnitLower(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx)
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

template <class Number>
PetscErrorCode SolveUpper(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx)
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

template <class Number> PetscErrorCode SolveUnitLowerTransposed(bool conjugate, PetscInt m, PetscInt n, const Number *T,
                                                                PetscInt ldt, Number *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "L", conjugate ? "C" : "T", "U", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = m - 1; i >= 0; i--) {
      Number sum = X[At(i, j, ldx)];
      for (PetscInt q = i + 1; q < m; q++) {
        const Number &t = T[At(q, i, ldt)];
        sum             = sum - (conjugate ? Conj(t) : t) * X[At(q, j, ldx)];
      }
      X[At(i, j, ldx)] = sum;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode SolveUpperTransposed(PetscInt m, PetscInt n, const Number *T, PetscInt ldt, Number *X, PetscInt ldx)
{
  PetscFunctionBegin;
  if (m <= 0 || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (static_cast<PetscCount>(m) * m * n >= FEW) {
    PetscCall(Triangular("L", "U", "T", "N", m, n, T, ldt, X, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++) {
      Number sum = X[At(i, j, ldx)];
      for (PetscInt q = 0; q < i; q++) sum = sum - T[At(q, i, ldt)] * X[At(q, j, ldx)];
      X[At(i, j, ldx)] = sum * Inverse(T[At(i, i, ldt)]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SubtractProduct(PetscInt, PetscInt, PetscInt, const Scalar *, PetscInt, const Scalar *,
                                        PetscInt, Scalar *, PetscInt);
template PetscErrorCode SubtractLowerProduct(PetscInt, PetscInt, const Scalar *, PetscInt, const Scalar *, PetscInt,
                                             Scalar *, PetscInt);
template PetscErrorCode SubtractTransposedProduct(bool, PetscInt, PetscInt, PetscInt, const Scalar *, PetscInt,
                                                  const Scalar *, PetscInt, Scalar *, PetscInt);
template PetscErrorCode SolveUpperRight(PetscInt, PetscInt, const Scalar *, PetscInt, Scalar *, PetscInt);
template PetscErrorCode SolveUnitLower(PetscInt, PetscInt, const Scalar *, PetscInt, Scalar *, PetscInt);
template PetscErrorCode SolveUpper(PetscInt, PetscInt, const Scalar *, PetscInt, Scalar *, PetscInt);
template PetscErrorCode SolveUpperTransposed(PetscInt, PetscInt, const Scalar *, PetscInt, Scalar *, PetscInt);
template PetscErrorCode SolveUnitLowerTransposed(bool, PetscInt, PetscInt, const Scalar *, PetscInt, Scalar *,
                                                 PetscInt);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode SubtractProduct(PetscInt, PetscInt, PetscInt, const Single *, PetscInt, const Single *,
                                        PetscInt, Single *, PetscInt);
template PetscErrorCode SubtractLowerProduct(PetscInt, PetscInt, const Single *, PetscInt, const Single *, PetscInt,
                                             Single *, PetscInt);
template PetscErrorCode SubtractTransposedProduct(bool, PetscInt, PetscInt, PetscInt, const Single *, PetscInt,
                                                  const Single *, PetscInt, Single *, PetscInt);
template PetscErrorCode SolveUpperRight(PetscInt, PetscInt, const Single *, PetscInt, Single *, PetscInt);
template PetscErrorCode SolveUnitLower(PetscInt, PetscInt, const Single *, PetscInt, Single *, PetscInt);
template PetscErrorCode SolveUpper(PetscInt, PetscInt, const Single *, PetscInt, Single *, PetscInt);
template PetscErrorCode SolveUpperTransposed(PetscInt, PetscInt, const Single *, PetscInt, Single *, PetscInt);
template PetscErrorCode SolveUnitLowerTransposed(bool, PetscInt, PetscInt, const Single *, PetscInt, Single *,
                                                 PetscInt);
#endif

} // namespace sparsegpu::lu
