static const char help[] =
    "MatZeroRows() and MatZeroRowsColumns() of values that are away from the host, against plain AIJ.\n\n";

#include <algorithm>
#include "values.hpp"

using namespace testing;

namespace
{
/// One call of MatZeroRows() or MatZeroRowsColumns(), and what it must leave behind.
struct ZeroCall {
  bool                  keep, columns;
  PetscScalar           diagonal;
  std::vector<PetscInt> rows;
  int                   vectors; ///< none, the matrix's, plain ones, the matrix's and a plain one, no x
};
struct Left {
  int                      code = 0; ///< of the call
  bool                     away = false;
  std::vector<PetscInt>    j;    ///< of the rows, each of which ends with a -1
  std::vector<PetscScalar> a, b; ///< of their entries, and the right-hand side
};

PetscErrorCode MakeVector(Mat A, bool right, bool plain, Vec *v)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  if (plain)
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, right ? m : n, v));
  else
    PetscCall(MatCreateVecs(A, right ? nullptr : v, right ? v : nullptr));
  for (PetscInt k = 0; k < (right ? m : n); ++k)
    PetscCall(VecSetValue(*v, k, (PetscScalar)((1 + k % 11) * (right ? 0.5 : 0.25)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*v));
  PetscCall(VecAssemblyEnd(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadRows(Mat A, Left *left)
{
  PetscInt           m, n;
  const PetscInt    *j;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, nullptr));
  for (PetscInt r = 0; r < m; ++r) {
    PetscCall(MatGetRow(A, r, &n, &j, &a));
    left->j.insert(left->j.end(), j, j + n);
    left->a.insert(left->a.end(), a, a + n);
    left->j.push_back(-1);
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunZeroCall(const ZeroCall &call, const Problem &p, const char type[], Left *left)
{
  const PetscInt           count = (PetscInt)call.rows.size();
  Mat                      A;
  Vec                      x = nullptr, b = nullptr;
  std::vector<PetscScalar> product;
  const PetscScalar       *place;
  PetscInt                 m;
  std::string              message;

  PetscFunctionBeginUser;
  PetscCall(MakeMatrix(p, type, 0, &A));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, call.keep ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatSeqAIJGetArrayRead(A, &place)); // stays where it is
  const PetscScalar *const host = place;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &place));
  PetscCall(Multiply(A, &product));
  if (call.vectors && call.vectors != 4) PetscCall(MakeVector(A, false, call.vectors == 2, &x));
  if (call.vectors) PetscCall(MakeVector(A, true, call.vectors > 1, &b));
  PetscCall(PetscPushErrorHandler(CollectMessage, &message));
  left->code = (int)(call.columns ? MatZeroRowsColumns(A, count, call.rows.data(), call.diagonal, x, b)
                                  : MatZeroRows(A, count, call.rows.data(), call.diagonal, x, b));
  PetscCall(PetscPopErrorHandler());
  if (!left->code) {
    left->away = host[0] != host[0];
    if (b) {
      PetscCall(VecGetLocalSize(b, &m));
      PetscCall(VecGetArrayRead(b, &place));
      left->b.assign(place, place + m);
      PetscCall(VecRestoreArrayRead(b, &place));
    }
    PetscCall(Multiply(A, &product));
    PetscCall(ReadRows(A, left));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does the pattern stay, without an entry that PETSc would have to add or a row that there is not?
bool IsDoneThere(const ZeroCall &call, const Problem &p)
{
  const auto missing = [&p](PetscInt r) {
    return r < p.cols &&
           std::none_of(p.entries.begin(), p.entries.end(), [r](const auto &e) { return e.i == r && e.j == r; });
  };
  bool any = false;
  for (PetscInt r : call.rows)
    if (r < 0 || r >= p.rows) return false;
  if (call.rows.empty()) return call.columns || call.keep;
  if (call.diagonal == (PetscScalar)0) return call.columns || call.keep;
  if (!call.columns) return call.keep && std::none_of(call.rows.begin(), call.rows.end(), missing);
  for (PetscInt r = 0; r < p.rows; ++r) any = any || missing(r);
  return !any && p.rows <= p.cols;
}

PetscErrorCode CompareZeroCall(const ZeroCall &call, const Problem &p)
{
  Left ours, theirs;

  PetscFunctionBeginUser;
  PetscCall(RunZeroCall(call, p, MATAIJ, &theirs));
  PetscCall(RunZeroCall(call, p, MATSPARSEGPU, &ours));
  const bool  there = IsDoneThere(call, p);
  PetscReal   off = 0, scale = 1; // a sum of a row may be rounded otherwise on a device
  std::string what = p.name + (call.columns ? ", rows and columns" : ", rows") + (call.keep ? ", kept" : "") +
                     ", diagonal " + std::to_string((double)PetscRealPart(call.diagonal)) + ", " +
                     std::to_string(call.rows.size()) + " rows, vectors " + std::to_string(call.vectors);
  PetscCheck(ours.code == theirs.code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d, not %d", what.c_str(), ours.code,
             theirs.code);
  PetscCheck(ours.code || ours.away == there, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the values have %scome to the host",
             what.c_str(), there ? "" : "not ");
  PetscCheck(ours.j == theirs.j && ours.a == theirs.a && ours.b.size() == theirs.b.size(), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: other rows than AIJ's", what.c_str());
  for (size_t k = 0; k < ours.b.size(); ++k) {
    off   = PetscMax(off, PetscAbsScalar(ours.b[k] - theirs.b[k]));
    scale = PetscMax(scale, PetscAbsScalar(theirs.b[k]));
  }
  PetscCheck(off <= 16 * PETSC_MACHINE_EPSILON * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the right-hand side is off by %g of %g", what.c_str(), (double)off, (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows that come twice, in any order, all, none, and those that there are not; missing diagonals; rectangular
/// matrices.
PetscErrorCode ZeroedRows()
{
  Problem some = conformance::Banded("some_diagonals", 60, 60, {-1, 0, 1, 7});
  some.entries.erase(std::remove_if(some.entries.begin(), some.entries.end(),
                                    [](const auto &e) { return e.i == e.j && e.i % 5 == 1; }),
                     some.entries.end());
  const Problem         problems[] = {conformance::Banded("diagonal", 60, 60, {-7, -1, 0, 1, 7}), some,
                                      conformance::Banded("wide", 40, 60, {-2, 0, 25}),
                                      conformance::Banded("tall", 60, 40, {-15, -1, 0, 4})};
  std::vector<PetscInt> all(60);
  for (size_t k = 0; k < all.size(); ++k) all[k] = (PetscInt)k;
  const std::vector<PetscInt> lists[] = {{}, {5}, {30, 5, 12, 5, 0, 39, 30}, {11, 6}, {10, 50}, all, {3, 60}, {-1, 4}};

  PetscFunctionBeginUser;
  for (const Problem &p : problems)
    for (const std::vector<PetscInt> &rows : lists)
      for (PetscScalar diagonal : {PetscScalar(0), PetscScalar(2)})
        for (bool columns : {false, true})
          for (bool keep : {false, true})
            for (int vectors = 0; vectors < 5; ++vectors) {
              // PETSc writes beyond its arrays in one of these, and older ones read beyond them in the other
              if (columns && p.rows > p.cols && diagonal != PetscScalar(0)) continue;
              if (columns && p.rows < p.cols && PETSC_VERSION_LT(3, 24, 0)) continue;
              PetscCall(CompareZeroCall({keep, columns, diagonal, rows, vectors}, p));
            }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"zeroed_rows", ZeroedRows}});
}
