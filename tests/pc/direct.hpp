/// What the tests of direct factorizations share.
#pragma once

#include "factors.hpp"

namespace testing
{

/// The backend under test.
inline std::string on = "kokkos";

/// Of one backend after the other.
template <PetscErrorCode (*test)()> PetscErrorCode OnEach()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    on = backend;
    PetscCall(test());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Both steps, of either kind.
inline PetscErrorCode Symbolic(Mat F, Mat A, MatFactorType kind, IS rows, IS columns, const MatFactorInfo &info)
{
  PetscFunctionBeginUser;
  if (kind == MAT_FACTOR_CHOLESKY)
    PetscCall(MatCholeskyFactorSymbolic(F, A, rows, &info));
  else
    PetscCall(MatLUFactorSymbolic(F, A, rows, columns, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode Numeric(Mat F, Mat A, MatFactorType kind, const MatFactorInfo &info)
{
  PetscFunctionBeginUser;
  if (kind == MAT_FACTOR_CHOLESKY)
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  else
    PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode SetValues(Mat A, const Problem &p)
{
  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ordering: null for none, which leaves it to the solver.
inline PetscErrorCode FactorDirect(Mat A, MatFactorType kind, const char ordering[], Mat *F)
{
  const MatFactorInfo info = Info(0);
  IS                  rows = nullptr, columns = nullptr;

  PetscFunctionBeginUser;
  PetscCall(MatGetFactor(A, MATSOLVERSPARSEGPU, kind, F));
  if (ordering) PetscCall(MatGetOrdering(A, ordering, &rows, &columns));
  PetscCall(Symbolic(*F, A, kind, rows, columns, info));
  PetscCall(Numeric(*F, A, kind, info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The view of a factor has the fact in it.
inline PetscErrorCode CheckView(Mat F, const std::string &what, const std::string &fact,
                                PetscViewerFormat format = PETSC_VIEWER_ASCII_INFO)
{
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(TextOf(PETSC_COMM_SELF, "direct_view", &text, [&](PetscViewer viewer) {
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(MatView(F, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    return PETSC_SUCCESS;
  }));
  PetscCall(CheckText(what, text, {fact}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The residual of x against the problem's own entries and b: at most what rounding leaves of a refined
/// solution, 32 eps or the longest sum's, and this check's own sums; `slack` times that.
inline PetscErrorCode CheckBackwardOf(const Problem &p, const std::vector<PetscScalar> &rhs,
                                      const std::vector<PetscScalar> &x, bool transpose, const std::string &what,
                                      PetscReal slack)
{
  std::vector<PetscScalar> r = rhs;
  std::vector<PetscReal>   sum(p.rows, 0);
  std::vector<PetscInt>    length(p.rows, 0);
  PetscReal                b = 0, norm = 0, most = 0, largest = 0;
  PetscInt                 longest = 0;

  PetscFunctionBeginUser;
  for (const PetscScalar v : r) b = std::max(b, PetscAbsScalar(v));
  for (const PetscScalar v : x) largest = std::max(largest, PetscAbsScalar(v));
  for (const Entry &e : p.entries) {
    const PetscInt i = transpose ? e.j : e.i, j = transpose ? e.i : e.j;
    r[i] -= e.v * x[j];
    sum[i] += PetscAbsScalar(e.v);
    longest = std::max(longest, ++length[i]);
  }
  for (PetscInt k = 0; k < p.rows; ++k) {
    most = std::max(most, PetscAbsScalar(r[k]));
    norm = std::max(norm, sum[k]);
    PetscCheck(PetscAbsScalar(r[k]) <= PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not finite", what.c_str());
  }
  const PetscReal goal = (std::max((PetscReal)32, (PetscReal)longest + 1) + (PetscReal)longest + 2) *
                         PETSC_MACHINE_EPSILON * (norm * largest + b) * slack;
  PetscCheck(most <= goal, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: residual %g, %g allowed", what.c_str(), (double)most,
             (double)goal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode CheckBackward(const Problem &p, const std::vector<PetscScalar> &x, bool transpose,
                                    const std::string &what, PetscReal slack = 1)
{
  PetscFunctionBeginUser;
  PetscCall(CheckBackwardOf(p, Input(p.rows, 7, Poison::None), x, transpose, what, slack));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of p, which has A's pattern, factored by Cholesky's method.
inline PetscErrorCode FactorValues(Mat F, Mat A, const Problem &p, MatFactorError *error)
{
  const MatFactorInfo info = Info(0);

  PetscFunctionBeginUser;
  PetscCall(SetValues(A, p));
  PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  PetscCall(MatFactorGetError(F, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The same without an error, and with solves, plain and transposed.
inline PetscErrorCode CheckNewValues(Mat F, Mat A, const Problem &p)
{
  std::vector<PetscScalar> x;
  MatFactorError           error;

  PetscFunctionBeginUser;
  PetscCall(FactorValues(F, A, p, &error));
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: factor error %d", p.name.c_str(), (int)error);
  for (const bool transpose : {false, true}) {
    PetscCall(SolveWith(A, F, VECSTANDARD, transpose, &x));
    PetscCall(CheckBackward(p, x, transpose, p.name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A first front of `head` pivots with all other rows, which then are dense.
inline Problem Bordered(PetscInt head, PetscInt rows)
{
  conformance::Builder b("bordered_" + std::to_string(rows), rows, rows);
  for (PetscInt r = 0; r < rows; ++r)
    for (PetscInt c = 0; c < rows; ++c)
      if (r < head || c < head || r == c) b.Add(r, c);
  return Dominant(b);
}

inline Problem Cube(PetscInt n)
{
  conformance::Builder b("cube_" + std::to_string(n), n * n * n, n * n * n);
  for (PetscInt r = 0; r < n * n * n; ++r) {
    b.Add(r, r);
    for (const PetscInt step : {(PetscInt)1, n, n * n}) {
      if (r / step % n == n - 1) continue;
      b.Add(r, r + step);
      b.Add(r + step, r);
    }
  }
  return Dominant(b);
}

} // namespace testing
