static const char help[] = "MatCreateGraph(): pattern, values and what is known of them equal plain AIJ's.\n\n";

#include "values.hpp"

using namespace testing;

#if PETSC_VERSION_GE(3, 24, 0)
namespace
{
struct Case {
  std::string name;
  PetscInt    block;    ///< rows of a block
  bool        diagonal; ///< entries on the diagonal, all of them
  bool        even;     ///< all rows of a block have the same columns
  bool        symmetric = false;
};

constexpr PetscInt ROWS = 90;

/// Of magnitudes from 1e-4 to 1, some of them zero.
PetscScalar Entry(PetscInt r, PetscInt c, bool symmetric)
{
  const PetscInt             low = symmetric ? PetscMin(r, c) : r, high = symmetric ? PetscMax(r, c) : c;
  const unsigned long long   seed   = (unsigned long long)low * 1009 + (unsigned long long)high;
  static constexpr PetscReal size[] = {1, 0.25, 0, 0.01, 0.001, 0.0001, 0.5};
  return conformance::Value(seed) * size[r == c ? 0 : seed % 7];
}

bool Has(const Case &c, PetscInt row, PetscInt col)
{
  const PetscInt i = row / c.block, j = col / c.block;
  if (row == col) return c.diagonal || row % 4 != 0;
  const PetscInt distance = PetscAbs(i - j);
  if (distance > 6 || (distance * distance + i + j) % 3 == 1) return false;
  return c.even || (row * col + row + col) % 5 != 0;
}

PetscErrorCode Create(const Case &c, const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
  PetscCall(MatSetBlockSize(*A, c.block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, ROWS, nullptr));
  for (PetscInt r = 0; r < ROWS; ++r)
    for (PetscInt k = 0; k < ROWS; ++k)
      if (Has(c, r, k)) PetscCall(MatSetValue(*A, r, k, Entry(r, k, c.symmetric), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (c.symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  if (c.symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CompareKnown(const std::string &what, Mat ours, Mat theirs)
{
  PetscBool a[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
            b[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  PetscInt bs, expected;

  PetscFunctionBeginUser;
  PetscCall(MatIsSymmetricKnown(ours, &a[0], &a[1]));
  PetscCall(MatIsSymmetricKnown(theirs, &b[0], &b[1]));
  PetscCall(MatIsStructurallySymmetricKnown(ours, &a[2], &a[3]));
  PetscCall(MatIsStructurallySymmetricKnown(theirs, &b[2], &b[3]));
  if (!a[0]) a[1] = PETSC_FALSE;
  if (!b[0]) b[1] = PETSC_FALSE;
  if (!a[2]) a[3] = PETSC_FALSE;
  if (!b[2]) b[3] = PETSC_FALSE;
  // Ours may know more of what PETSc forgets while it filters.
  if (a[2] && a[3] && !b[2]) {
    PetscBool same;
    PetscCall(MatIsTranspose(theirs, theirs, 64 * PETSC_MACHINE_EPSILON, &same));
    if (same) b[2] = b[3] = PETSC_TRUE;
  }
  for (int k = 0; k < 4; ++k)
    PetscCheck(a[k] == b[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: symmetry %d is %d, not %d", what.c_str(), k,
               (int)a[k], (int)b[k]);
  PetscCall(MatGetBlockSize(ours, &bs));
  PetscCall(MatGetBlockSize(theirs, &expected));
  PetscCheck(bs == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: block size %" PetscInt_FMT ", not %" PetscInt_FMT,
             what.c_str(), bs, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same entries, values within a few roundings: of sums of up to nine magnitudes, and two factors that are roots.
PetscErrorCode CompareGraphs(const std::string &what, Mat ours, Mat theirs)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(theirs, &m, &n));
  PetscCall(MatGetSize(ours, &m, nullptr));
  PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " rows, not %" PetscInt_FMT, what.c_str(), m,
             n);
  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt    *a_j, *b_j;
    const PetscScalar *a, *b;
    PetscInt           a_n, b_n;
    PetscCall(MatGetRow(ours, r, &a_n, &a_j, &a));
    PetscCall(MatGetRow(theirs, r, &b_n, &b_j, &b));
    PetscCheck(a_n == b_n && std::equal(a_j, a_j + a_n, b_j), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " other entries than %" PetscInt_FMT, what.c_str(), r,
               a_n, b_n);
    for (PetscInt k = 0; k < a_n; ++k)
      PetscCheck(PetscAbsScalar(a[k] - b[k]) <= 16 * PETSC_MACHINE_EPSILON * PetscAbsScalar(b[k]), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: (%" PetscInt_FMT ", %" PetscInt_FMT ") is %.17g, not %.17g", what.c_str(), r,
                 a_j[k], (double)PetscRealPart(a[k]), (double)PetscRealPart(b[k]));
    PetscCall(MatRestoreRow(theirs, r, &b_n, &b_j, &b));
    PetscCall(MatRestoreRow(ours, r, &a_n, &a_j, &a));
  }
  PetscCall(CompareKnown(what, ours, theirs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The graph is a matrix as any other: its product with itself, whose pattern coarsening takes.
PetscErrorCode CompareSquares(const std::string &what, Mat ours, Mat theirs)
{
  Mat a, b;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(ours, ours, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &a));
  PetscCall(MatMatMult(theirs, theirs, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &b));
  std::vector<PetscScalar> x, y;
  PetscCall(Multiply(a, &x));
  PetscCall(Multiply(b, &y));
  PetscCall(Compare(what.c_str(), x, y));
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Arguments {
  PetscBool symmetrize, scale;
  PetscReal filter;
  PetscInt  indices;
};

PetscErrorCode TestOne(const Case &c, const Arguments &how, Mat A, Mat plain)
{
  PetscInt          index[] = {2, 0};
  Mat               ours, theirs;
  const std::string what = c.name + (how.symmetrize ? ", symmetrized" : "") + (how.scale ? ", scaled" : "") +
                           (how.indices ? ", indices" : "") + ", filter " + std::to_string(how.filter);

  PetscFunctionBeginUser;
  PetscCall(MatCreateGraph(A, how.symmetrize, how.scale, how.filter, how.indices, index, &ours));
  PetscCall(MatCreateGraph(plain, how.symmetrize, how.scale, how.filter, how.indices, index, &theirs));
  PetscCall(CompareGraphs(what, ours, theirs));
  if (how.filter < 0) PetscCall(CompareSquares(what, ours, theirs));
  PetscCall(CompareGraphs(what + ", after products", ours, theirs));
  PetscCall(MatDestroy(&ours));
  PetscCall(MatDestroy(&theirs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestCase(const Case &c)
{
  PetscFunctionBeginUser;
  for (bool multiplied : {false, true}) { // before the first product nothing is known to live on the device
    Mat                      A, plain;
    std::vector<PetscScalar> before, after;
    PetscCall(Create(c, MATSPARSEGPU, &A));
    PetscCall(Create(c, MATAIJ, &plain));
    if (multiplied) PetscCall(Multiply(A, &before));
    for (PetscBool symmetrize : {PETSC_FALSE, PETSC_TRUE})
      for (PetscBool scale : {PETSC_FALSE, PETSC_TRUE})
        for (double filter : {-1.0, 0.0, 0.01})
          for (PetscInt indices : {0, c.block > 1 ? 2 : 0})
            PetscCall(TestOne(c, {symmetrize, scale, (PetscReal)filter, indices}, A, plain));
    PetscCall(Multiply(A, &after)); // A is as before
    PetscCall(Multiply(plain, &before));
    PetscCall(Compare(c.name.c_str(), after, before));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&plain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestEntries()
{
  PetscFunctionBeginUser;
  PetscCall(TestCase({"entries", 1, true, true}));
  PetscCall(TestCase({"entries, diagonal missing", 1, false, false}));
  PetscCall(TestCase({"entries, symmetric", 1, true, true, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode TestBlocks()
{
  PetscFunctionBeginUser;
  PetscCall(TestCase({"blocks of 3", 3, true, true}));
  PetscCall(TestCase({"blocks of 3, sparse", 3, true, false}));
  PetscCall(TestCase({"blocks of 3, diagonal missing", 3, false, false}));
  PetscCall(TestCase({"blocks of 3, symmetric", 3, true, true, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows whose columns are 0 and 3, of the blocks 0 and 1: PETSc takes them for block 0.
PetscErrorCode TestShifted()
{
  Mat matrix[2], graph[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 4, 2, nullptr, &matrix[k]));
    PetscCall(MatSetBlockSize(matrix[k], 2));
    for (PetscInt r = 0; r < 4; ++r)
      for (PetscInt c : {0, 3}) PetscCall(MatSetValue(matrix[k], r, c, 1 + r + 3 * c, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(matrix[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix[k], MAT_FINAL_ASSEMBLY));
    if (k == 0) PetscCall(MatConvert(matrix[k], MATSPARSEGPU, MAT_INPLACE_MATRIX, &matrix[k]));
    PetscCall(MatCreateGraph(matrix[k], PETSC_FALSE, PETSC_FALSE, -1, 0, nullptr, &graph[k]));
  }
  PetscCall(CompareGraphs("groups of columns that are no blocks", graph[0], graph[1]));
  for (Mat *m : {&matrix[0], &matrix[1], &graph[0], &graph[1]}) PetscCall(MatDestroy(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ours copies no matrix on the host where A lives on the device.
PetscErrorCode TestThere()
{
  const Case c{"entries, symmetric", 1, true, true, true};
  PetscBool  device, away = PETSC_FALSE;
  PetscInt   before, after;
  Mat        A, G;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &away, nullptr));
  if (!device && !away) {
    PetscCall(Skip("skipped: no device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Create(c, MATSPARSEGPU, &A));
  PetscCall(EventCount("MatConvert", &before)); // MatDuplicate() logs it
  PetscCall(MatCreateGraph(A, PETSC_TRUE, PETSC_TRUE, 0.01, 0, nullptr, &G));
  PetscCall(EventCount("MatConvert", &after));
  PetscCheck(after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " matrices copied", after - before);
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
#else
namespace
{
PetscErrorCode TooOld()
{
  PetscFunctionBeginUser;
  PetscCall(Skip("skipped: graphs are PETSc's before 3.24"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
constexpr auto TestEntries = TooOld, TestBlocks = TooOld, TestShifted = TooOld, TestThere = TooOld;
} // namespace
#endif

int main(int argc, char **argv)
{
  return testing::Main(
      argc, argv, help,
      {{"entries", TestEntries}, {"blocks", TestBlocks}, {"shifted", TestShifted}, {"there", TestThere}});
}
