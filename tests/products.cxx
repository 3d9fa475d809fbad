static const char help[] =
    "Operations that our type inherits from aij: products, sub-matrices, factorizations, orderings, solves.\n\n";

#include "family.hpp"

using namespace testing;

/// One problem as ours and as aij.
struct Pair {
  Mat ours, aij;
};
static PetscErrorCode Create(const Problem &p, Pair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &pair->ours));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATAIJ, nullptr, Layout::Even, &pair->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Destroy(Pair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&pair->ours));
  PetscCall(MatDestroy(&pair->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The same pattern, and values off by no more than `terms` * 2 eps times those of `sizes`, the same product of
/// absolute values: nullptr for the same bits, where it is PETSc's own code that must have run.
static PetscErrorCode CheckSame(Mat ours, Mat aij, const std::string &what, Mat sizes = nullptr, PetscInt terms = 0)
{
  Problem a, b, c;

  PetscFunctionBeginUser;
  PetscCall(Gather(ours, &a));
  PetscCall(Gather(aij, &b));
  PetscCall(Gather(sizes ? sizes : aij, &c));
  PetscCheck(a.rows == b.rows && a.cols == b.cols && a.entries.size() == b.entries.size(), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: %zu entries, aij has %zu", what.c_str(), a.entries.size(), b.entries.size());
  for (size_t k = 0; k < a.entries.size(); ++k) {
    const PetscReal bound = 2 * (PetscReal)terms * PETSC_MACHINE_EPSILON * PetscAbsScalar(c.entries[k].v);
    const PetscReal error = PetscAbsScalar(a.entries[k].v - b.entries[k].v);
    PetscCheck(a.entries[k].i == b.entries[k].i && a.entries[k].j == b.entries[k].j && error <= bound, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: entry %zu is %g away from aij's, %g allowed", what.c_str(), k, (double)error,
               (double)bound);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Problem Left()
{
  return conformance::Grid("left", 10, 9, false);
}
static Problem Right() // 90 x 31: an aggregation of 3 rows each, with something off it
{
  conformance::Builder b("right", 90, 31);
  for (PetscInt i = 0; i < 90; ++i) {
    b.Add(i, i / 3);
    if (i % 4 == 0) b.Add(i, 30);
  }
  return b;
}

/// Rows and columns that are full, empty, and of all lengths between, and one entry a row of P but for a few.
static Problem LeftUneven()
{
  const PetscInt       n = 700;
  conformance::Builder b("uneven", n, n);

  for (PetscInt k = 0; k < n; ++k) {
    b.Add(n / 2, k);
    if (k != n / 2 && k % 5) b.Add(k, 3);
    for (PetscInt d = 0; k % 7 && d < k % 40; ++d)
      if (k != n / 2) b.Add(k, 4 + (k + 11 * d) % (n - 4));
  }
  return b;
}
static Problem RightUneven()
{
  conformance::Builder b("uneven P", 700, 650);

  for (PetscInt i = 0; i < 700; ++i) {
    if (i % 13) b.Add(i, (i * i) % 650);
    for (PetscInt j = 0; i == 17 && j < 650; ++j)
      if (j != (i * i) % 650) b.Add(i, j);
  }
  return b;
}
/// A full row and a diagonal, and rows of P without a column in common: a row of the product has more columns than a
/// hash table of the device takes.
static Problem LeftRow(PetscInt n)
{
  conformance::Builder b("full row", n, n);
  for (PetscInt k = 0; k < n; ++k) b.Add(0, k);
  for (PetscInt k = 1; k < n; ++k) b.Add(k, k);
  return b;
}
static Problem RightApart(PetscInt rows, PetscInt each)
{
  conformance::Builder b("P apart", rows, rows * each + 7);
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt k = 0; k < each; ++k) b.Add(i, i * each + k);
  return b;
}
/// Without an entry, and of one.
static Problem Little(const char *name, PetscInt rows, PetscInt cols, bool entry)
{
  conformance::Builder b(name, rows, cols);
  if (entry) b.Add(rows - 1, 0);
  return b;
}
/// Rows of P of some ten and thirty entries.
static Problem RightDense(PetscInt rows, PetscInt cols, PetscInt each)
{
  conformance::Builder b("dense P", rows, cols);
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt k = 0; k < each; ++k) b.Add(i, (7 * i + k) % cols);
  return b;
}

constexpr int KINDS = 7;
/// r: the transpose of p.
static PetscErrorCode Multiply(int kind, Mat a, Mat p, Mat r, MatReuse reuse, Mat *c)
{
  PetscFunctionBeginUser;
  switch (kind) {
  case 0: PetscCall(MatMatMult(a, p, reuse, PETSC_DEFAULT, c)); break;
  case 1: PetscCall(MatPtAP(a, p, reuse, PETSC_DEFAULT, c)); break;
  case 2: PetscCall(MatTransposeMatMult(a, p, reuse, PETSC_DEFAULT, c)); break;
  case 3: PetscCall(MatTransposeMatMult(p, p, reuse, PETSC_DEFAULT, c)); break;
  case 4: PetscCall(MatMatMatMult(a, a, p, reuse, PETSC_DEFAULT, c)); break;
  case 5: PetscCall(MatMatTransposeMult(p, p, reuse, PETSC_DEFAULT, c)); break;
  default: PetscCall(MatRARt(a, r, reuse, PETSC_DEFAULT, c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Are products of our matrices ours, on the device or where a test's second array stands for it? Else PETSc's.
static PetscErrorCode ProductsAreOurs(bool *ours)
{
  PetscBool device, away = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &away, nullptr));
  *ours = PetscGlobalSize == 1 && (device || away);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every sparse product of these, made and made again with new values; also ours with aij, on either side.
static PetscErrorCode SparseSparse(const Problem &left, const Problem &right)
{
  Problem absolute[2] = {left, right};
  Pair    A, P, R, C, sizes;
  Mat     sizes_r;
  bool    is_ours;

  PetscFunctionBeginUser;
  PetscCall(ProductsAreOurs(&is_ours));
  PetscCall(Create(absolute[0], &A));
  PetscCall(Create(absolute[1], &P));
  for (Problem &p : absolute)
    for (conformance::Entry &e : p.entries) e.v = PetscAbsScalar(e.v);
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, absolute[0], MATAIJ, nullptr, Layout::Even, &sizes.ours));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, absolute[1], MATAIJ, nullptr, Layout::Even, &sizes.aij));
  PetscCall(MatTranspose(P.ours, MAT_INITIAL_MATRIX, &R.ours));
  PetscCall(MatTranspose(P.aij, MAT_INITIAL_MATRIX, &R.aij));
  PetscCall(MatTranspose(sizes.aij, MAT_INITIAL_MATRIX, &sizes_r));
  const std::vector<Mat> factors = {A.ours, A.aij, P.ours, P.aij, R.ours, R.aij, sizes.ours, sizes.aij, sizes_r};
  for (int kind = 0; kind < KINDS; ++kind) {
    // At most `rows` terms in each of two products. On several ranks they are added as messages come; on one, always
    // alike, but by the device.
    const PetscInt    most = 2 * (left.rows + 2), terms = PetscGlobalSize > 1 || is_ours ? most : 0;
    const std::string what = left.name + ", product " + std::to_string(kind);
    Mat               mixed[2], size;
    if (kind >= 5 && PetscGlobalSize > 1) continue; // PETSc has them on one rank only
    PetscCall(Multiply(kind, A.ours, P.ours, R.ours, MAT_INITIAL_MATRIX, &C.ours));
    PetscCall(Multiply(kind, A.aij, P.aij, R.aij, MAT_INITIAL_MATRIX, &C.aij));
    PetscCall(Multiply(kind, sizes.ours, sizes.aij, sizes_r, MAT_INITIAL_MATRIX, &size));
    PetscCall(CheckSame(C.ours, C.aij, what, size, terms));
    PetscCall(Multiply(kind, A.ours, P.aij, R.aij, MAT_INITIAL_MATRIX, &mixed[0]));
    PetscCall(Multiply(kind, A.aij, P.ours, R.ours, MAT_INITIAL_MATRIX, &mixed[1]));
    for (Mat &m : mixed) { // for these PETSc may choose another algorithm
      PetscCall(CheckSame(m, C.aij, what + ", mixed types", size, most));
      PetscCall(MatDestroy(&m));
    }
    for (Mat m : factors) PetscCall(MatScale(m, 2));
    PetscCall(MatScale(size, 8)); // at least: each product has two or three factors
    PetscCall(Multiply(kind, A.ours, P.ours, R.ours, MAT_REUSE_MATRIX, &C.ours));
    PetscCall(Multiply(kind, A.aij, P.aij, R.aij, MAT_REUSE_MATRIX, &C.aij));
    PetscCall(CheckSame(C.ours, C.aij, what + ", reused", size, terms));
    PetscCall(MatDestroy(&size));
    PetscCall(Destroy(&C));
    for (Mat m : factors) PetscCall(MatScale(m, 0.5));
  }
  PetscCall(MatDestroy(&sizes_r));
  for (Pair *pair : {&A, &P, &R, &sizes}) PetscCall(Destroy(pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode SparseSparse()
{
  PetscFunctionBeginUser;
  PetscCall(SparseSparse(Left(), Right()));
  PetscCall(SparseSparse(Left(), RightDense(90, 11, 1))); // constant on aggregates
  PetscCall(SparseSparse(Left(), RightDense(90, 40, 10)));
  PetscCall(SparseSparse(Left(), RightDense(90, 80, 30)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// On one rank: in parallel PETSc's own algorithms are what runs.
static PetscErrorCode SparseUneven()
{
  PetscFunctionBeginUser;
  PetscCall(SparseSparse(LeftUneven(), RightUneven()));
  PetscCall(SparseSparse(LeftUneven(), RightDense(700, 30, 3)));
  PetscCall(SparseSparse(LeftRow(19), RightApart(19, 180)));
  PetscCall(SparseSparse(Little("empty", 5, 5, false), Little("empty P", 5, 3, false)));
  PetscCall(SparseSparse(Little("of one entry", 5, 5, true), Little("P of one entry", 5, 3, true)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Entries that an operand gets after the product was set up: those for which the result has a place are counted in,
/// others are an error where the product is ours.
static PetscErrorCode SparseChanged()
{
  const auto create = [](bool more, MatType type, Mat *A) -> PetscErrorCode {
    conformance::Builder b("changed", 4, 4);
    PetscFunctionBeginUser;
    for (PetscInt k = 0; k < 4; ++k) b.Add(k, k);
    if (more) b.Add(0, 3);
    PetscCall(CreateMatrix(PETSC_COMM_SELF, b, type, nullptr, Layout::Even, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  bool           ours;
  Mat            A, fewer, more, C, expected;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(ProductsAreOurs(&ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(create(true, MATSPARSEGPU, &more));
  PetscCall(create(false, MATSPARSEGPU, &fewer));
  PetscCall(create(false, MATSPARSEGPU, &A));
  PetscCall(MatMatMult(more, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(fewer, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(fewer, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
  PetscCall(MatAXPY(C, -1, expected, SUBSET_NONZERO_PATTERN));
  PetscReal norm;
  PetscCall(MatNorm(C, NORM_INFINITY, &norm));
  PetscCheck(norm == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The product with fewer entries is %g away", (double)norm);
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  code = MatMatMult(more, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &expected);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code == PETSC_ERR_ARG_WRONGSTATE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "An entry without a place in the product: error %d, not %d", (int)code, (int)PETSC_ERR_ARG_WRONGSTATE);
  for (Mat *M : {&A, &fewer, &more, &C, &expected}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A dense matrix of `cols` columns fit for op(A), column c being Input(.., c).
static PetscErrorCode CreateDense(Mat A, bool transpose, PetscInt cols, Mat *B)
{
  PetscInt m, n, begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, transpose ? m : n, PETSC_DECIDE, PETSC_DETERMINE, cols, nullptr, B));
  PetscCall(MatGetOwnershipRange(*B, &begin, &end));
  for (PetscInt i = begin; i < end; ++i)
    for (PetscInt c = 0; c < cols; ++c)
      PetscCall(MatSetValue(*B, i, c, conformance::Value((unsigned long long)(1000 * c + i)), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Sparse x dense and its transpose, made and made again, column by column against the oracle.
static PetscErrorCode SparseDense()
{
  const PetscInt COLS = 5;
  Problem        p    = Right();
  Mat            A, B, C;

  PetscFunctionBeginUser;
  for (bool transpose : {false, true}) {
    const auto multiply = transpose ? MatTransposeMatMult : MatMatMult;
    const Op   op       = transpose ? Op::Transpose : Op::Plain;
    p                   = Right();
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
    PetscCall(CreateDense(A, transpose, COLS, &B));
    for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX}) {
      PetscCall(multiply(A, B, reuse, PETSC_DEFAULT, &C));
      for (PetscInt c = 0; c < COLS; ++c) {
        Vec y;
        PetscCall(MatDenseGetColumnVecRead(C, c, &y));
        PetscCall(CheckResult(
            y,
            oracle::Product(p, op, Input(transpose ? p.rows : p.cols, (unsigned long long)(1000 * c), Poison::None),
                            {}),
            std::string("sparse x dense, ") + oracle::Name(op)));
        PetscCall(MatDenseRestoreColumnVecRead(C, c, &y));
      }
      PetscCall(MatScale(A, 2));
      for (conformance::Entry &e : p.entries) e.v *= 2;
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Dense x sparse, and the product's vectors: PETSc has this one on every number of ranks.
static PetscErrorCode DenseSparse()
{
  Pair      A;
  Mat       B, C[2];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(Left(), &A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 7, 90, nullptr, &B));
  PetscCall(MatSetRandom(B, nullptr));
  if (PetscGlobalSize == 1) { // MPIDENSE x MPIAIJ is not there in PETSc
    PetscCall(MatMatMult(B, A.ours, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C[0]));
    PetscCall(MatMatMult(B, A.aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C[1]));
    PetscCall(MatEqual(C[0], C[1], &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "dense x sparse differs from aij's");
    for (Mat &c : C) PetscCall(MatDestroy(&c));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(Destroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sub-matrices, permutations, transposes, orderings, colourings: the same as aij's.
static PetscErrorCode Parts()
{
  Pair      A, B;
  IS        rows, perm[2], iperm[2];
  PetscInt  begin, end;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(Left(), &A));
  PetscCall(MatGetOwnershipRange(A.aij, &begin, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 3, begin + 1, 2, &rows));
  PetscCall(MatCreateSubMatrix(A.ours, rows, rows, MAT_INITIAL_MATRIX, &B.ours));
  PetscCall(MatCreateSubMatrix(A.aij, rows, rows, MAT_INITIAL_MATRIX, &B.aij));
  PetscCall(CheckSame(B.ours, B.aij, "MatCreateSubMatrix"));
  PetscCall(Destroy(&B));
  PetscCall(MatTranspose(A.ours, MAT_INITIAL_MATRIX, &B.ours));
  PetscCall(MatTranspose(A.aij, MAT_INITIAL_MATRIX, &B.aij));
  PetscCall(CheckSame(B.ours, B.aij, "MatTranspose"));
  PetscCall(MatEqual(A.ours, B.ours, &same));
  PetscCheck(!same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatEqual() of a matrix and its transpose");
  PetscCall(MatIsTranspose(A.ours, B.ours, 0, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatIsTranspose() of a matrix and its transpose");
  PetscCall(Destroy(&B));
  if (PetscGlobalSize == 1)
    for (MatOrderingType type : {MATORDERINGRCM, MATORDERINGND, MATORDERINGQMD, MATORDERING1WD, MATORDERINGROWLENGTH}) {
      PetscCall(MatGetOrdering(A.ours, type, &perm[0], &iperm[0]));
      PetscCall(MatGetOrdering(A.aij, type, &perm[1], &iperm[1]));
      PetscCall(ISEqual(perm[0], perm[1], &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Ordering %s differs from aij's", type);
      PetscCall(MatPermute(A.ours, perm[0], iperm[0], &B.ours));
      PetscCall(MatPermute(A.aij, perm[1], iperm[1], &B.aij));
      PetscCall(CheckSame(B.ours, B.aij, std::string("MatPermute by ") + type));
      PetscCall(Destroy(&B));
      for (int which = 0; which < 2; ++which) {
        PetscCall(ISDestroy(&perm[which]));
        PetscCall(ISDestroy(&iperm[which]));
      }
    }
  PetscCall(ISDestroy(&rows));
  PetscCall(Destroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"sparse_sparse", SparseSparse},
               {"sparse_uneven", SparseUneven},
               {"sparse_changed", SparseChanged},
               {"sparse_dense", SparseDense},
               {"dense_sparse", DenseSparse},
               {"parts", Parts}});
}
