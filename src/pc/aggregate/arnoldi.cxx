/// Arnoldi's method by classical Gram-Schmidt, twice where much cancels; and the eigenvalues of small matrices.
#include "pc/aggregate/arnoldi.hpp"
#include <petscblaslapack.h>
#include <cmath>
#include <limits>
#include "petsc/add_multiples.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

PetscErrorCode SpectralRadius(PetscInt most, PetscInt n, const std::vector<PetscScalar> &h, PetscReal *radius)
{
  PetscBLASInt             size, room, info, one = 1;
  std::vector<PetscScalar> square, work, values;
  std::vector<PetscReal>   real;

  PetscFunctionBegin;
  *radius = 0;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; c < n; c++)
    for (PetscInt r = 0; r < n; r++) {
      const PetscScalar value = h[static_cast<size_t>(c * most + r)];
      if (PetscIsInfOrNanScalar(value)) { // LAPACK may not end
        *radius = std::numeric_limits<PetscReal>::quiet_NaN();
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      PetscCallCXX(square.push_back(value));
    }
  PetscCall(PetscBLASIntCast(n, &size));
  room = 8 * size + 8;
  PetscCallCXX(work.resize(static_cast<size_t>(room)));
  PetscCallCXX(values.resize(static_cast<size_t>(2 * n)));
  PetscCallCXX(real.resize(static_cast<size_t>(2 * n)));
#if defined(PETSC_USE_COMPLEX)
  LAPACKgeev_("N", "N", &size, square.data(), &size, values.data(), nullptr, &one, nullptr, &one, work.data(), &room,
              real.data(), &info);
  for (PetscInt k = 0; k < n; k++) *radius = PetscMax(*radius, PetscAbsScalar(values[static_cast<size_t>(k)]));
#else
  LAPACKgeev_("N", "N", &size, square.data(), &size, values.data(), values.data() + n, nullptr, &one, nullptr, &one,
              work.data(), &room, &info);
  for (size_t k = 0; k < static_cast<size_t>(n); k++)
    *radius = PetscMax(*radius, std::hypot(values[k], values[k + static_cast<size_t>(n)]));
#endif
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "Error %d of LAPACK's geev", static_cast<int>(info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// More than so many times a, b is not believed: such a matrix is no discretisation of anything that diffuses.
constexpr PetscReal SKEWEST = 8;
/// What is left of a vector below this part of the largest has lost too many digits to be orthogonal to the others.
constexpr PetscReal CANCELLED = 1e-2;
/// Diagonals that differ by less than this make no two scalings that differ by much.
constexpr PetscReal ALIKE = 4;

/// left A right, of diagonal matrices: a matrix similar to D^-1 A.
struct Similar {
  Mat A;
  Vec left, right, work; ///< right null: 1

  PetscErrorCode Mult(Vec x, Vec y) const
  {
    PetscFunctionBegin;
    if (right) PetscCall(VecPointwiseMult(work, right, x));
    PetscCall(MatMult(A, right ? work : x, y));
    PetscCall(VecPointwiseMult(y, left, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// h [most * most] by columns and its size *n: the Hessenberg matrix of M in an orthonormal basis of *n vectors, the
/// first start / |start|. *n < most where they span an invariant space, or values are not finite.
PetscErrorCode Project(const Similar &M, PetscInt most, Vec start, std::vector<PetscScalar> *h, PetscInt *n)
{
  Vec                     *v;
  PetscReal                norm, scale = 0;
  std::vector<PetscScalar> parts;

  PetscFunctionBegin;
  *n = 0;
  PetscCallCXX(h->assign(static_cast<size_t>(most * most), 0));
  PetscCallCXX(parts.resize(static_cast<size_t>(most)));
  PetscCall(VecDuplicateVecs(start, most + 1, &v));
  PetscCall(VecCopy(start, v[0]));
  PetscCall(VecNorm(v[0], NORM_2, &norm));
  // nothing but rounding is left of the next vector if it depends on those before
  while (*n < most && norm > 100 * PETSC_MACHINE_EPSILON * scale && !PetscIsInfOrNanReal(norm)) {
    const PetscInt k      = *n;
    PetscScalar   *column = h->data() + k * most;
    PetscCall(VecScale(v[k], 1 / norm));
    if (k > 0) column[k - most] = norm; // below the diagonal of the column before
    PetscCall(M.Mult(v[k], v[k + 1]));
    for (int pass = 0; pass == 0 || (pass == 1 && norm < CANCELLED * PetscMax(scale, PetscAbsScalar(column[k])));
         pass++) {
      PetscCall(VecMDot(v[k + 1], k + 1, v, parts.data()));
      for (PetscInt r = 0; r <= k; r++) {
        column[r] += parts[static_cast<size_t>(r)];
        parts[static_cast<size_t>(r)] *= -1;
      }
      PetscCall(AddMultiples(v[k + 1], k + 1, parts.data(), v));
      PetscCall(VecNorm(v[k + 1], NORM_2, &norm));
    }
    scale = PetscMax(scale, PetscAbsScalar(column[k]) + norm);
    ++*n;
  }
  PetscCall(VecDestroyVecs(most + 1, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// a + 4 b^2 / a for the field of values of M.
PetscErrorCode Bound(const Similar &M, PetscInt steps, Vec start, PetscReal *bound)
{
  PetscInt                 n;
  PetscReal                a, b;
  std::vector<PetscScalar> h, hermitian, skew;

  PetscFunctionBegin;
  PetscCall(Project(M, steps, start, &h, &n));
  PetscCallCXX(hermitian = h);
  PetscCallCXX(skew = h);
  for (PetscInt c = 0; c < n; c++)
    for (PetscInt r = 0; r < n; r++) {
      const size_t      here   = static_cast<size_t>(c * steps + r);
      const PetscScalar across = PetscConj(h[static_cast<size_t>(r * steps + c)]);
      hermitian[here]          = (h[here] + across) / (PetscReal)2;
      skew[here]               = (h[here] - across) / (PetscReal)2;
    }
  PetscCall(SpectralRadius(steps, n, hermitian, &a));
  PetscCall(SpectralRadius(steps, n, skew, &b));
  a      = PetscMax(a, b / SKEWEST); // NaN stays
  *bound = a > 0 ? a + 4 * b * b / a : a;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BoundForChebyshev(Mat A, PetscInt steps, Vec start, PetscReal *bound)
{
  Vec       inverse, left, right, work;
  PetscReal least, most, other;

  PetscFunctionBegin;
  for (Vec *v : {&inverse, &left, &right, &work}) PetscCall(VecDuplicate(start, v));
  PetscCall(MatGetDiagonal(A, inverse));
  PetscCall(VecCopy(inverse, left));
  PetscCall(VecSqrtAbs(left));
  PetscCall(VecMin(left, nullptr, &least));
  PetscCall(VecMax(left, nullptr, &most));
  PetscCall(VecReciprocal(inverse)); // leaves zeros
  PetscCall(Bound(Similar{A, inverse, nullptr, nullptr}, steps, start, bound));
  if (most * most > ALIKE * least * least) {
    PetscCall(VecPointwiseMult(left, inverse, left));
    PetscCall(VecCopy(inverse, right));
    PetscCall(VecSqrtAbs(right));
    PetscCall(Bound(Similar{A, left, right, work}, steps, start, &other));
    if (other < *bound) *bound = other;
  }
  for (Vec *v : {&inverse, &left, &right, &work}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
