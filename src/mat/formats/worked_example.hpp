/// The matrix that every format's test works out by hand, and what the tests share.
///
///     | 1 . 2 |       x = (1, 2, 3)       A x = (7, 6, 32)
///     | . 3 . |
///     | 4 5 6 |
#pragma once

#include <vector>
#include "mat/formats/plan.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{
namespace example
{

inline CsrView Matrix()
{
  static const PetscInt i[] = {0, 2, 3, 6}, j[] = {0, 2, 1, 0, 1, 2};
  static const Scalar   a[] = {1, 2, 3, 4, 5, 6};
  return CsrView{3, 3, 6, i, j, a};
}

inline PetscErrorCode CheckInts(const char what[], const PetscInt *array, const std::vector<PetscInt> &expected)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < expected.size(); k++)
    PetscCheck(array[k] == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s[%zu] is %" PetscInt_FMT ", not %" PetscInt_FMT, what, k, array[k], expected[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An expected -1 stands for PadValue().
inline PetscErrorCode CheckValues(const char what[], const Scalar *array, const std::vector<PetscReal> &expected)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < expected.size(); k++)
    PetscCheck(expected[k] == -1 ? IsPad(array[k]) : RealPart(array[k]) == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s[%zu] is %g, not %g", what, k, (double)RealPart(array[k]), (double)expected[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Builds `format` on the host and checks A x, A x + y and a second product after the values were doubled.
inline PetscErrorCode BuildAndMultiply(Format &format, const FormatOptions &options)
{
  const Scalar x[] = {1, 2, 3}, y[] = {10, 20, 30};
  Scalar       z[] = {-5, -5, -5}, twice[6];
  CsrView      A   = Matrix();
  bool         fits;

  PetscFunctionBeginUser;
  PetscCall(format.Build(A, options, Space::Host));
  for (int k = 0; k < 6; k++) twice[k] = A.a[k] + A.a[k];
  A.a = twice;
  PetscCall(format.Update(A, twice, Space::Host, &fits));
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Twice the values do not fit");
  PetscCall(format.Mult(x, nullptr, z, nullptr));
  PetscCall(CheckValues("2 A x", z, {14, 12, 64}));
  A = Matrix();
  PetscCall(format.Update(A, A.a, Space::Host, &fits));
  PetscCall(format.Mult(x, y, z, nullptr));
  PetscCall(CheckValues("A x + y", z, {17, 26, 62}));
  PetscCall(format.Mult(x, z, z, nullptr));
  PetscCall(CheckValues("A x + z", z, {24, 32, 94}));
  PetscCall(format.Mult(x, nullptr, z, nullptr));
  PetscCall(CheckValues("A x", z, {7, 6, 32}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline int Main(int argc, char **argv, PetscErrorCode (*test)())
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(test());
  PetscCall(PetscFinalize());
  return 0;
}

} // namespace example
} // namespace sparsegpu::formats
