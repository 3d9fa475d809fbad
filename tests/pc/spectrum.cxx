static const char help[] =
    "Estimates of the largest eigenvalue of D^-1 A, and what takes its place, where they are known.\n\n";

#include <cmath>
#include <functional>
#include <limits>
#include "../testing.hpp"
#include "pc/aggregate/aggregate.hpp"

using namespace testing;
namespace agg = sparsegpu::aggregate;

namespace
{
constexpr PetscInt STEPS = 10;

/// A(r, c) for each of `columns`(r).
PetscErrorCode Create(const char type[], PetscInt n, const std::function<std::vector<PetscInt>(PetscInt)> &columns,
                      const std::function<PetscScalar(PetscInt, PetscInt)> &value, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, 3, nullptr, 3, nullptr));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r)
    for (PetscInt c : columns(r)) PetscCall(MatSetValue(*A, r, c, value(r, c), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The ring of n points with 2, -right and -left in each row, which `scale`(r) multiplies.
PetscErrorCode CreateRing(const char type[], PetscInt n, PetscScalar right, PetscScalar left,
                          const std::function<PetscReal(PetscInt)> &scale, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(Create(
      type, n,
      [n](PetscInt r) {
        return std::vector<PetscInt>{r, (r + 1) % n, (r + n - 1) % n};
      },
      [&](PetscInt r, PetscInt c) -> PetscScalar {
        return scale(r) * (c == r ? (PetscScalar)2 : c == (r + 1) % n ? -right : -left);
      },
      A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The estimate, twice the same, between `least` and `most`; destroys A.
PetscErrorCode Check(const std::string &what, Mat *A, PetscReal least, PetscReal most)
{
  PetscReal estimate, again;

  PetscFunctionBeginUser;
  PetscCall(agg::EstimateLargestEigenvalue(*A, STEPS, &estimate));
  PetscCall(agg::EstimateLargestEigenvalue(*A, STEPS, &again));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %.16g, between %g and %g\n", what.c_str(), (double)estimate,
                        (double)least, (double)most));
  PetscCheck(estimate >= least && estimate <= most && estimate == again, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: estimates %.16g and %.16g, between %.16g and %.16g expected", what.c_str(), (double)estimate,
             (double)again, (double)least, (double)most);
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const TYPES[] = {MATAIJ, "sparsegpu"};

/// Eigenvalues 1 - cos(t + phase): Lanczos' method, which is never above the largest.
PetscErrorCode TestHermitian()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const PetscReal phase : {0., 0.3}) {
      Mat         A;
      PetscScalar right = 1;
#if defined(PETSC_USE_COMPLEX)
      right = PetscScalar(std::cos(phase), std::sin(phase));
#endif
      PetscCall(CreateRing(
          type, 500, right, PetscConj(right), [](PetscInt) { return 3; }, &A));
      PetscCall(Check("Hermitian, phase " + std::to_string(phase) + ", " + type, &A, (PetscReal)1.86,
                      2 * (1 + 100 * PETSC_MACHINE_EPSILON)));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Eigenvalues 1 - cos t + i c sin t, of a normal matrix whose rows are scaled: a = 2 and b = c, of which a Krylov
/// space sees 80 % or more, and never more than all.
PetscErrorCode TestComplexEigenvalues()
{
  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const PetscReal c : {0.1, 0.3, 1., 3., 10.}) {
      const auto      scale = [](PetscInt r) { return (PetscReal)(1 + r % 5); };
      const PetscReal seen = (PetscReal)0.8, least = 2 * seen + 2 * c * c * seen * seen, most = 2 + 2 * c * c / seen;
      Mat             A;
      PetscCall(CreateRing(type, 500, 1 - c, 1 + c, scale, &A));
      PetscCall(Check("convection " + std::to_string(c) + ", " + type, &A, least, most));
#if defined(PETSC_USE_COMPLEX)
      PetscCall(CreateRing(type, 500, PetscScalar(1, c), PetscScalar(1, c), scale, &A));
      PetscCall(Check("complex symmetric " + std::to_string(c) + ", " + type, &A, least, most));
#endif
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Krylov spaces that are everything: the definition to rounding.
PetscErrorCode TestSmall()
{
  struct Small {
    const char *name;
    PetscScalar a[4]; ///< by rows
    PetscReal   expected;
  };
  const Small cases[] = {{"diagonal", {3, 0, 0, -2}, 1},
                         {"triangular", {1, 5, 0, 1}, (PetscReal)(3.5 + 4 * 2.5 * 2.5 / 3.5)},
                         {"rotation", {2, 1, -1, 2}, (PetscReal)(1 + 4 * 0.25)},
                         {"almost skew", {1, 40, -40, 1}, 5 + 4 * 40 * 8},
                         {"no diagonal", {0, 1, -1, 0}, 0},
                         {"zero", {0, 0, 0, 0}, 0}};

  PetscFunctionBeginUser;
  for (const char *type : TYPES)
    for (const Small &s : cases) {
      const PetscReal slack = 1000 * PETSC_MACHINE_EPSILON * s.expected;
      Mat             A;
      PetscCall(Create(
          type, 2,
          [](PetscInt) {
            return std::vector<PetscInt>{0, 1};
          },
          [&](PetscInt r, PetscInt c) { return s.a[2 * r + c]; }, &A));
      PetscCall(Check(std::string(s.name) + ", " + type, &A, s.expected - slack, s.expected + slack));
    }
  for (const PetscScalar value : {(PetscScalar)-3, (PetscScalar)0}) {
    Mat A;
    PetscCall(Create(
        "sparsegpu", 1, [](PetscInt) { return std::vector<PetscInt>{0}; }, [&](PetscInt, PetscInt) { return value; },
        &A));
    const PetscReal expected = value == (PetscScalar)0 ? 0 : 1, slack = 100 * PETSC_MACHINE_EPSILON;
    PetscCall(Check("one row", &A, expected - slack, expected + slack));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not finite: an end without an error, and no number that looks like one. Zero rows are not seen.
PetscErrorCode TestNotFinite()
{
  const PetscReal huge = PETSC_MAX_REAL / 4, infinity = std::numeric_limits<PetscReal>::infinity(),
                  nan = std::numeric_limits<PetscReal>::quiet_NaN();

  PetscFunctionBeginUser;
  for (const char *type : TYPES) {
    for (const PetscReal value : {nan, infinity, huge})
      for (const PetscInt row : {3, 250}) {
        Mat       A;
        PetscReal estimate;
        PetscCall(CreateRing(
            type, 500, (PetscReal)0.5, (PetscReal)1.5, [](PetscInt) { return 1; }, &A));
        PetscCall(MatSetValue(A, row, row + 1, value, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        PetscCall(agg::EstimateLargestEigenvalue(A, STEPS, &estimate));
        PetscCheck(!(estimate > 0 && estimate < 100), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %g in a row: estimate %g",
                   type, (double)value, (double)estimate);
        PetscCall(MatDestroy(&A));
      }
    Mat A;
    PetscCall(CreateRing(
        type, 500, (PetscReal)0.5, (PetscReal)1.5, [](PetscInt r) { return (PetscReal)(r % 100 == 7 ? 0 : 1); }, &A));
    PetscCall(Check(std::string("zero rows, ") + type, &A, 2, 3));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"hermitian", TestHermitian},
               {"complex_eigenvalues", TestComplexEigenvalues},
               {"small", TestSmall},
               {"not_finite", TestNotFinite}});
}
