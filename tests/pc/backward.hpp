/// Backward errors of solutions, and those of a dense factorization to compare with.
#pragma once

#include "direct.hpp"

#include <cmath>

namespace testing
{

/// The right-hand sides that are tried: Input(n, 7), and A times ones.
inline std::vector<PetscScalar> RightSide(const Problem &p, int which, bool transpose)
{
  std::vector<PetscScalar> b = Input(p.rows, 7, Poison::None);
  if (which == 0) return b;
  std::fill(b.begin(), b.end(), PetscScalar(0));
  for (const Entry &e : p.entries) b[transpose ? e.j : e.i] += e.v;
  return b;
}

/// The normwise and the componentwise backward error of x; infinite where x is not finite.
struct Backward {
  PetscReal norm = 0, component = 0;
};
inline Backward Measure(const Problem &p, const std::vector<PetscScalar> &b, const std::vector<PetscScalar> &x,
                        bool transpose, std::vector<PetscScalar> *residual = nullptr)
{
  std::vector<PetscScalar> r = b;
  std::vector<PetscReal>   sum(p.rows, 0), size(p.rows, 0);
  PetscReal                most = 0, norm = 0, largest = 0, rhs = 0;
  Backward                 error;
  bool                     finite = true;
  for (const Entry &e : p.entries) {
    const PetscInt i = transpose ? e.j : e.i, j = transpose ? e.i : e.j;
    r[i] -= e.v * x[j];
    sum[i] += PetscAbsScalar(e.v);
    size[i] += PetscAbsScalar(e.v) * PetscAbsScalar(x[j]);
  }
  for (PetscInt k = 0; k < p.rows; ++k) {
    finite  = finite && PetscAbsScalar(x[k]) <= PETSC_MAX_REAL && PetscAbsScalar(r[k]) <= PETSC_MAX_REAL;
    most    = std::max(most, PetscAbsScalar(r[k]));
    norm    = std::max(norm, sum[k]);
    largest = std::max(largest, PetscAbsScalar(x[k]));
    rhs     = std::max(rhs, PetscAbsScalar(b[k]));
    if (PetscAbsScalar(r[k]) > 0)
      error.component = std::max(error.component, PetscAbsScalar(r[k]) / (size[k] + PetscAbsScalar(b[k])));
  }
  error.norm = most > 0 ? most / norm / (largest + rhs / norm) : 0;
  if (!finite) error.norm = error.component = PETSC_INFINITY;
  if (residual) *residual = r;
  return error;
}

inline PetscErrorCode SolveFor(Mat A, Mat F, const std::vector<PetscScalar> &b, bool transpose,
                               std::vector<PetscScalar> *x, const std::string &type = VECSTANDARD)
{
  const PetscScalar *array;
  Vec                from, to;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, false, type, &from));
  PetscCall(VecDuplicate(from, &to));
  PetscCall(SetVector(from, b));
  PetscCall(transpose ? MatSolveTranspose(F, from, to) : MatSolve(F, from, to));
  PetscCall(VecGetArrayRead(to, &array));
  x->assign(array, array + b.size());
  PetscCall(VecRestoreArrayRead(to, &array));
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows and columns times powers of two that bring the geometric means of their entries near 1, then their largest
/// ones.
inline Problem Balanced(const Problem &p, std::vector<PetscReal> *row, std::vector<PetscReal> *column)
{
  Problem                q = p;
  std::vector<PetscReal> log, r(p.rows, 0), c(p.rows, 0);
  for (const Entry &e : p.entries) log.push_back(PetscAbsScalar(e.v) > 0 ? std::log2(PetscAbsScalar(e.v)) : 0);
  for (int pass = 0; pass < 100; ++pass)
    for (const bool rows : {true, false}) {
      std::vector<PetscReal> sum(p.rows, 0), most(p.rows, -PETSC_INFINITY);
      std::vector<PetscInt>  count(p.rows, 0);
      for (size_t k = 0; k < p.entries.size(); ++k) {
        const Entry &e = p.entries[k];
        if (!(PetscAbsScalar(e.v) > 0)) continue;
        const PetscInt  at    = rows ? e.i : e.j;
        const PetscReal value = log[k] + (rows ? c[e.j] : r[e.i]);
        sum[at] += value;
        most[at] = std::max(most[at], value);
        ++count[at];
      }
      for (PetscInt k = 0; k < p.rows; ++k)
        if (count[k] > 0) (rows ? r : c)[k] = pass < 99 ? -sum[k] / (PetscReal)count[k] : -std::round(most[k]);
    }
  row->clear();
  column->clear();
  for (PetscInt k = 0; k < p.rows; ++k) {
    row->push_back(std::exp2(r[k]));
    column->push_back(std::exp2(c[k]));
  }
  for (Entry &e : q.entries) e.v = e.v * (*row)[e.i] * (*column)[e.j];
  return q;
}

/// LAPACK's dense factorization of the balanced matrix, and up to three steps of refinement as long as the error falls.
/// Takes the largest error of all right-hand sides and of the transposed ones. *singular: the balanced matrix is, to
/// rounding: a residual is as large as the right-hand side, so that the solution is mostly error.
inline PetscErrorCode Reference(const Problem &p, Backward *error, bool *singular)
{
  const MatFactorInfo    info = Info(0);
  std::vector<PetscReal> row, column;
  const Problem          q = Balanced(p, &row, &column);
  std::string            message;
  MatFactorError         failed;
  Mat                    A;

  PetscFunctionBeginUser;
  *error = Backward();
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p.rows, p.rows, nullptr, &A));
  for (const Entry &e : q.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscPushErrorHandler(CollectMessage, &message)); // a pivot of zero
  const PetscErrorCode code = MatLUFactor(A, nullptr, nullptr, &info);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatFactorGetError(A, &failed));
  *singular = code || failed;
  if (*singular) {
    error->norm = error->component = PETSC_INFINITY;
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const bool transpose : {false, true}) {
    const std::vector<PetscReal>  &before = transpose ? column : row, &after = transpose ? row : column;
    const std::vector<PetscScalar> rhs = RightSide(q, 0, transpose);
    std::vector<PetscScalar>       y, left;
    PetscReal                      most = 0, largest = 0;
    PetscCall(SolveFor(A, A, rhs, transpose, &y));
    (void)Measure(q, rhs, y, transpose, &left);
    for (const PetscScalar v : left) most = std::max(most, PetscAbsScalar(v));
    for (const PetscScalar v : rhs) largest = std::max(largest, PetscAbsScalar(v));
    *singular = *singular || !(most <= (PetscReal)1e-2 * largest);
    for (int which = 0; which < 2; ++which) {
      const std::vector<PetscScalar> b = RightSide(p, which, transpose);
      std::vector<PetscScalar>       x(p.rows, 0), r = b, d;
      Backward                       best = {PETSC_INFINITY, PETSC_INFINITY};
      for (int step = 0; step < 4; ++step) {
        for (PetscInt k = 0; k < p.rows; ++k) r[k] *= before[k];
        PetscCall(SolveFor(A, A, r, transpose, &d));
        for (PetscInt k = 0; k < p.rows; ++k) d[k] = x[k] + after[k] * d[k];
        const Backward next = Measure(p, b, d, transpose, &r);
        if (!(next.norm < best.norm)) break;
        best = next;
        x    = d;
      }
      error->norm      = std::max(error->norm, best.norm);
      error->component = std::max(error->component, best.component);
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the largest backward errors of solutions with F, for all right-hand sides and transposed.
inline PetscErrorCode SolveAll(const Problem &p, Mat A, Mat F, Backward *error)
{
  PetscFunctionBeginUser;
  *error = Backward();
  for (int which = 0; which < 2; ++which)
    for (const bool transpose : {false, true}) {
      const std::vector<PetscScalar> b = RightSide(p, which, transpose);
      std::vector<PetscScalar>       x;
      PetscCall(SolveFor(A, F, b, transpose, &x));
      const Backward mine = Measure(p, b, x, transpose);
      error->norm         = std::max(error->norm, mine.norm);
      error->component    = std::max(error->component, mine.component);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a refined solve may leave, and the rounding of Measure(): see CheckBackward().
inline PetscReal Bound(const Problem &p)
{
  std::vector<PetscInt> row(p.rows, 0), column(p.rows, 0);
  PetscInt              longest = 0;
  for (const Entry &e : p.entries) longest = std::max(longest, std::max(++row[e.i], ++column[e.j]));
  return (PetscReal)(std::max(PetscInt(32), longest + 1) + longest + 2) * PETSC_MACHINE_EPSILON;
}

/// Ours on a backend, and what the view says: infinite errors if it fails.
inline PetscErrorCode OurErrorOf(const std::string &on, const Problem &p, Backward *error, MatFactorError *failed,
                                 std::string *view)
{
  Mat A, F;

  PetscFunctionBeginUser;
  PetscCall(CreateOn(on, p, &A));
  PetscCall(FactorDirect(A, MAT_FACTOR_LU, MATORDERINGLEASTFILL, &F));
  PetscCall(MatFactorGetError(F, failed));
  error->norm = error->component = PETSC_INFINITY;
  if (!*failed) PetscCall(SolveAll(p, A, F, error));
  PetscCall(MatFactorGetError(F, failed)); // a solve may have found out
  PetscCall(ViewText(F, PETSC_VIEWER_ASCII_INFO, "lu_hard_view", view));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
