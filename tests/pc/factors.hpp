/// Matrices whose incomplete factors are well conditioned, their factors, and what two of them may differ by.
#pragma once

#include "../family.hpp"

namespace testing
{

using conformance::Entry;

/// A square matrix of this pattern whose diagonal is twice what dominates its row and its column, so that every factor
/// is well conditioned: |U^-1| |U| and |L| |L^-1| are at most 3 in the norms of rows and of columns. Its signs are
/// mixed, unless `positive`.
inline Problem Dominant(Problem p, bool positive = false)
{
  std::vector<PetscReal> sum(p.rows, 0);
  std::vector<Entry>     off;
  for (const Entry &e : p.entries) {
    if (e.i == e.j) continue;
    off.push_back(e);
    sum[e.i] += PetscAbsScalar(e.v);
    sum[e.j] += PetscAbsScalar(e.v);
  }
  for (PetscInt r = 0; r < p.rows; ++r) off.push_back({r, r, r % 3 || positive ? 2 * sum[r] + 1 : -2 * sum[r] - 1});
  p.entries = off;
  return p;
}

/// Patterns that a solve in parallel finds hard.
inline std::vector<Problem> Problems()
{
  std::vector<Problem> all = {conformance::Grid("grid_24x23", 24, 23, false), conformance::RowLengths(),
                              conformance::PowerLaw(300), conformance::OneFullRow(300, 0),
                              conformance::OneFullRow(300, 299)};
  all[1].cols              = all[1].rows; // cut to a square
  for (Problem &p : all) {
    std::vector<Entry> inside;
    for (const Entry &e : p.entries)
      if (e.j < p.rows) inside.push_back(e);
    p.entries = inside;
  }
  conformance::Builder chain("bidiagonal_3000", 3000, 3000), arrow("arrow_200", 200, 200), one("one_1x1", 1, 1);
  for (PetscInt r = 1; r < 3000; ++r) chain.Add(r, r - 1);
  for (PetscInt r = 1; r < 200; ++r) {
    arrow.Add(r, 0);
    arrow.Add(0, r);
  }
  // rows that a block shares: with and without anything to subtract, and hubs that know each other
  conformance::Builder hubs("hubs_900", 900, 900);
  for (PetscInt r = 1; r < 900; ++r) {
    const PetscInt column[] = {0, 1, 449, 450, 898, 899};
    const bool     is_hub   = std::find(column, column + 6, r) != column + 6;
    if (r % 7 == 0 && !is_hub) hubs.Add(r, r / 7 + 1);
    for (PetscInt hub : column) {
      if (r != hub && (r * 37 + hub) % 10 < 8) hubs.Add(hub, r);
      if (!is_hub && (r * 11 + hub) % 10 < 5) hubs.Add(r, hub);
    }
  }
  all.push_back(hubs);
  all.push_back(chain);
  all.push_back(arrow);
  all.push_back(one);
  all.push_back(conformance::Builder("diagonal_33", 33, 33));
  all.push_back(conformance::Builder("empty_0x0", 0, 0));
  for (Problem &p : all) p = Dominant(p);
  return all;
}

/// The upper triangle and its mirror image, positive definite where scalars are real.
inline Problem Symmetric(const Problem &p)
{
  Problem q = p;
  q.name += "_symmetric";
  q.entries.clear();
  for (const Entry &e : p.entries)
    if (e.j > e.i) {
      q.entries.push_back(e);
      q.entries.push_back({e.j, e.i, e.v});
    }
  return Dominant(q, true);
}

/// The factor of `A` on the solver's terms; F must not exist yet.
inline PetscErrorCode FactorOf(Mat A, const char solver[], MatFactorType kind, const MatFactorInfo &info,
                               const char ordering[], Mat *F)
{
  IS rows, columns;

  PetscFunctionBeginUser;
  PetscCall(MatGetFactor(A, solver, kind, F));
  PetscCall(MatGetOrdering(A, ordering, &rows, &columns));
  if (kind == MAT_FACTOR_ICC) {
    PetscCall(MatICCFactorSymbolic(*F, A, rows, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, A, &info));
  } else {
    PetscCall(MatILUFactorSymbolic(*F, A, rows, columns, &info));
    PetscCall(MatLUFactorNumeric(*F, A, &info));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline MatFactorInfo Info(PetscReal levels)
{
  MatFactorInfo info;
  PetscCallAbort(PETSC_COMM_SELF, MatFactorInfoInitialize(&info));
  info.levels    = levels;
  info.fill      = 5;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  return info;
}

/// x of F x = b with vectors of `type`; b = Input(n, 7).
inline PetscErrorCode SolveWith(Mat A, Mat F, const std::string &type, bool transpose,
                                std::vector<PetscScalar> *solution)
{
  Vec                b, x;
  const PetscScalar *array;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  PetscCall(CreateVector(A, Op::Plain, false, type, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SetVector(b, Input(n, 7, Poison::None)));
  PetscCall(VecSet(x, 77));
  if (transpose)
    PetscCall(MatSolveTranspose(F, b, x));
  else
    PetscCall(MatSolve(F, b, x));
  PetscCall(VecGetArrayRead(x, &array));
  solution->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two backward stable solves with factors that two orders of summation made: each of the four sweeps is off by at most
/// (length + 2) eps |L^-1| |L| |x| (Higham, 8.1), each factorization by as much again; |..| |..| <= 9 for both factors.
inline PetscErrorCode CheckClose(const std::vector<PetscScalar> &x, const std::vector<PetscScalar> &y, PetscInt length,
                                 const std::string &what)
{
  PetscReal largest = 0;

  PetscFunctionBeginUser;
  for (const PetscScalar v : y) largest = PetscMax(largest, PetscAbsScalar(v));
  const PetscReal bound = 2 * 4 * 9 * (length + 2) * PETSC_MACHINE_EPSILON * largest;
  for (size_t r = 0; r < x.size(); ++r)
    PetscCheck(PetscAbsScalar(x[r] - y[r]) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %d: %g away, %g allowed",
               what.c_str(), (int)r, (double)PetscAbsScalar(x[r] - y[r]), (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode CheckSameBits(const std::vector<PetscScalar> &x, const std::vector<PetscScalar> &y,
                                    const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCheck(x.size() == y.size() && (x.empty() || !memcmp(x.data(), y.data(), x.size() * sizeof(PetscScalar))),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not the same bits twice", what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode CreateOn(const std::string &backend, const Problem &p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, nullptr, Layout::Even, A));
  PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
constexpr const char *ENGINES[] = {"auto", "syncfree", "level", "jacobi", "isai"};

} // namespace testing
