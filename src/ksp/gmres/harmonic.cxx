/// All of it on the host, on matrices of the size of a cycle.
#include "ksp/gmres/harmonic.hpp"
#include <petscblaslapack.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

namespace
{
/// By columns.
struct Small {
  PetscInt            rows = 0, columns = 0;
  std::vector<Scalar> a;

  Small() = default;
  Small(PetscInt m, PetscInt n) : rows(m), columns(n), a(static_cast<size_t>(m) * n, Scalar(0)) {}
  Scalar       *Column(PetscInt c) { return a.data() + static_cast<size_t>(c) * rows; }
  const Scalar *Column(PetscInt c) const { return a.data() + static_cast<size_t>(c) * rows; }
  void          Truncate(PetscInt count)
  {
    columns = count;
    a.resize(static_cast<size_t>(rows) * count);
  }
};

/// x [n]^H y.
Scalar Inner(PetscInt n, const Scalar *x, const Scalar *y)
{
  Scalar sum(0);
  for (PetscInt k = 0; k < n; k++) sum += Conj(x[k]) * y[k];
  return sum;
}

/// x [count + 1] = Q^H x, Q^H the first `count` rotations.
void Rotate(const Hessenberg &H, PetscInt count, Scalar *x)
{
  for (PetscInt j = 0; j < count; j++) {
    const Scalar top = x[j], below = x[j + 1];
    x[j]     = Conj(H.cosine[j]) * top + Scalar(H.sine[j]) * below;
    x[j + 1] = H.cosine[j] * below - Scalar(H.sine[j]) * top;
  }
}
/// x = Q x.
void RotateBack(const Hessenberg &H, PetscInt count, Scalar *x)
{
  for (PetscInt j = count - 1; j >= 0; j--) {
    const Scalar top = x[j], below = x[j + 1];
    x[j]     = H.cosine[j] * top - Scalar(H.sine[j]) * below;
    x[j + 1] = Scalar(H.sine[j]) * top + Conj(H.cosine[j]) * below;
  }
}

/// V^H W.
Small Inside(PetscInt steps, const KeptSpace &before)
{
  Small S(steps + 1, steps);

  for (PetscInt c = 0; c < steps; c++) {
    if (c < before.kept)
      std::copy_n(before.inside.data() + static_cast<size_t>(c) * (before.kept + 1), before.kept + 1, S.Column(c));
    else
      S.Column(c)[c] = Scalar(1);
  }
  return S;
}

/// R^-1 Q^H S: its eigenvalues are the inverse harmonic Ritz values.
Small InverseRitz(const Hessenberg &H, PetscInt steps, const Small &S)
{
  Small B(steps, steps), column(steps + 1, 1);

  for (PetscInt c = 0; c < steps; c++) {
    std::copy_n(S.Column(c), steps + 1, column.Column(0));
    Rotate(H, steps, column.Column(0));
    Scalar *const y = B.Column(c);
    std::copy_n(column.Column(0), steps, y);
    for (PetscInt j = steps - 1; j >= 0; j--) {
      const Scalar *r = H.r + static_cast<size_t>(j) * H.stride;
      y[j]            = Quotient(y[j], RealPart(r[j]));
      for (PetscInt i = 0; i < j; i++) y[i] = y[i] - r[i] * y[j];
    }
  }
  return B;
}

/// Real columns that span the eigenvectors of B with the largest eigenvalues: as many as `most` hold, a conjugate pair
/// as its real and its imaginary part, and none that are zero but for rounding. None where LAPACK finds none.
PetscErrorCode LargestEigenvectors(Small *B, PetscInt most, Small *Z)
{
  const PetscInt           n = B->rows;
  PetscBLASInt             size, room, info, one = 1;
  std::vector<PetscScalar> vectors, values, work;
  std::vector<PetscReal>   magnitude, real, imaginary;
  std::vector<PetscInt>    order, chosen;
  PetscScalar *const       matrix = reinterpret_cast<PetscScalar *>(B->a.data());

  PetscFunctionBegin;
  PetscCallCXX(*Z = Small(n, 0));
  for (const Scalar &b : B->a)
    if (PetscIsInfOrNanReal(Magnitude(b))) PetscFunctionReturn(PETSC_SUCCESS); // LAPACK may not end
  PetscCall(PetscBLASIntCast(n, &size));
  room = 8 * size;
  PetscCallCXX(work.resize(static_cast<size_t>(room)));
  PetscCallCXX(vectors.resize(static_cast<size_t>(n) * n));
  for (std::vector<PetscReal> *v : {&magnitude, &imaginary}) PetscCallCXX(v->resize(static_cast<size_t>(n)));
  PetscCallCXX(real.resize(static_cast<size_t>(2 * n)));
  PetscCallCXX(values.resize(static_cast<size_t>(n)));
  PetscCallCXX(order.resize(static_cast<size_t>(n)));
  PetscCallCXX(chosen.reserve(static_cast<size_t>(n)));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); // LAPACK may divide by zero and know what to do
  const auto column = [&](PetscInt c) {
    return reinterpret_cast<Scalar *>(vectors.data()) + static_cast<size_t>(c) * n;
  };
#if defined(PETSC_USE_COMPLEX)
  LAPACKgeev_("N", "V", &size, matrix, &size, values.data(), nullptr, &one, vectors.data(), &size, work.data(), &room,
              real.data(), &info);
  for (PetscInt k = 0; k < n; k++) magnitude[k] = PetscAbsScalar(values[k]);
  const auto width = [](PetscInt) { return 1; };
#else
  LAPACKgeev_("N", "V", &size, matrix, &size, real.data(), imaginary.data(), nullptr, &one, vectors.data(), &size,
              work.data(), &room, &info);
  for (PetscInt k = 0; k < n; k++) magnitude[k] = Hypotenuse(real[k], imaginary[k]);
  // the first of a pair has the positive imaginary part; its columns are the real and the imaginary part
  const auto width = [&](PetscInt k) { return imaginary[k] > 0 ? 2 : imaginary[k] < 0 ? 0 : 1; };
#endif
  PetscCall(PetscFPTrapPop());
  if (info) PetscFunctionReturn(PETSC_SUCCESS);
  std::iota(order.begin(), order.end(), PetscInt(0));
  std::stable_sort(order.begin(), order.end(), [&](PetscInt a, PetscInt b) { return magnitude[a] > magnitude[b]; });
  for (const PetscInt k : order) {
    // R^-1 Q^H V^H W is singular where steps have brought nothing: its null vectors are the residual, not slow parts
    if (!(magnitude[k] > 100 * PETSC_MACHINE_EPSILON * magnitude[order.front()])) break;
    if (static_cast<PetscInt>(chosen.size()) + width(k) > most) break;
    for (PetscInt c = 0; c < width(k); c++) chosen.push_back(k + c);
  }
  PetscCallCXX(*Z = Small(n, static_cast<PetscInt>(chosen.size())));
  for (PetscInt q = 0; q < Z->columns; q++) std::copy_n(column(chosen[q]), n, Z->Column(q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns of Y become orthonormal, by modified Gram-Schmidt twice; those of Z are combined as they are. Both end
/// before a column that depends on those before it.
void MakeOrthonormal(Small *Y, Small *Z)
{
  // less of a column has lost too many digits; a third of them is enough for a space that is to be kept
  const PetscReal LEAST = std::pow(PETSC_MACHINE_EPSILON, (PetscReal)2 / 3);

  for (PetscInt q = 0; q < Y->columns; q++) {
    Scalar *const y = Y->Column(q), *const z = Z->Column(q);
    const PetscReal whole = SquareRoot(RealPart(Inner(Y->rows, y, y)));
    for (int pass = 0; pass < 2; pass++)
      for (PetscInt p = 0; p < q; p++) {
        const Scalar part = Inner(Y->rows, Y->Column(p), y);
        for (PetscInt k = 0; k < Y->rows; k++) y[k] = y[k] - part * Y->Column(p)[k];
        for (PetscInt k = 0; k < Z->rows; k++) z[k] = z[k] - part * Z->Column(p)[k];
      }
    const PetscReal left = SquareRoot(RealPart(Inner(Y->rows, y, y)));
    if (!(left > LEAST * whole)) {
      Y->Truncate(q);
      Z->Truncate(q);
      return;
    }
    for (PetscInt k = 0; k < Y->rows; k++) y[k] = Quotient(y[k], left);
    for (PetscInt k = 0; k < Z->rows; k++) z[k] = Quotient(z[k], left);
  }
}

/// A B.
Small Multiply(const Small &A, const Small &B)
{
  Small C(A.rows, B.columns);

  for (PetscInt q = 0; q < B.columns; q++)
    for (PetscInt c = 0; c < A.columns; c++)
      for (PetscInt k = 0; k < A.rows; k++) C.Column(q)[k] += A.Column(c)[k] * B.Column(q)[c];
  return C;
}

/// H Z, H = Q R.
Small Images(const Hessenberg &H, PetscInt steps, const Small &Z)
{
  Small Y(steps + 1, Z.columns);

  for (PetscInt q = 0; q < Z.columns; q++) {
    for (PetscInt c = 0; c < steps; c++)
      for (PetscInt k = 0; k <= c; k++) Y.Column(q)[k] += H.r[static_cast<size_t>(c) * H.stride + k] * Z.Column(q)[c];
    RotateBack(H, steps, Y.Column(q));
  }
  return Y;
}

/// Coefficient q of column c at c * kept + q.
std::vector<Scalar> Transposed(const Small &A)
{
  std::vector<Scalar> a(A.a.size());

  for (PetscInt q = 0; q < A.columns; q++)
    for (PetscInt c = 0; c < A.rows; c++) a[static_cast<size_t>(c) * A.columns + q] = A.Column(q)[c];
  return a;
}

/// [C r]^H U, of coefficients P, those of r, and SU = V^H U.
std::vector<Scalar> InsideOf(const Small &P, const Small &r, const Small &SU)
{
  std::vector<Scalar> inside;

  for (PetscInt q = 0; q < SU.columns; q++) {
    for (PetscInt p = 0; p < P.columns; p++) inside.push_back(Inner(P.rows, P.Column(p), SU.Column(q)));
    inside.push_back(Inner(P.rows, r.Column(0), SU.Column(q)));
  }
  return inside;
}
} // namespace

PetscErrorCode FindKeptSpace(const Hessenberg &H, PetscInt steps, PetscInt most, const KeptSpace &before,
                             KeptSpace *space)
{
  Small S, B, Z, Y, r;

  PetscFunctionBegin;
  PetscCallCXX(*space = KeptSpace());
  if (Magnitude(H.rhs[steps]) == 0) PetscFunctionReturn(PETSC_SUCCESS); // nothing is left to solve
  PetscCallCXX(S = Inside(steps, before));
  PetscCallCXX(B = InverseRitz(H, steps, S));
  PetscCall(LargestEigenvectors(&B, most, &Z));
  PetscCallCXX(Y = Images(H, steps, Z));
  MakeOrthonormal(&Y, &Z);
  if (Z.columns == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(r = Small(steps + 1, 1));
  r.a.back() = Quotient(H.rhs[steps], Magnitude(H.rhs[steps]));
  RotateBack(H, steps, r.Column(0));
  space->kept = Z.columns;
  PetscCallCXX(space->image = Transposed(Y));
  PetscCallCXX(space->operand = Transposed(Z));
  PetscCallCXX(space->inside = InsideOf(Y, r, Multiply(S, Z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
