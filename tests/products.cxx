static const char help[] =
    "What our type inherits from aij: products, sub-matrices, factorizations, orderings, solves.\n\n";

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

/// Every sparse product, made and made again with new values; also ours with aij, on either side.
static PetscErrorCode SparseSparse()
{
  Problem absolute[2] = {Left(), Right()};
  Pair    A, P, C, sizes;

  PetscFunctionBeginUser;
  PetscCall(Create(absolute[0], &A));
  PetscCall(Create(absolute[1], &P));
  for (Problem &p : absolute)
    for (conformance::Entry &e : p.entries) e.v = PetscAbsScalar(e.v);
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, absolute[0], MATAIJ, nullptr, Layout::Even, &sizes.ours));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, absolute[1], MATAIJ, nullptr, Layout::Even, &sizes.aij));
  for (int kind = 0; kind < 6; ++kind) {
    const auto multiply = [kind](Mat a, Mat p, MatReuse reuse, Mat *c) {
      return kind == 0   ? MatMatMult(a, p, reuse, PETSC_DEFAULT, c)
             : kind == 1 ? MatPtAP(a, p, reuse, PETSC_DEFAULT, c)
             : kind == 2 ? MatTransposeMatMult(a, p, reuse, PETSC_DEFAULT, c)
             : kind == 3 ? MatTransposeMatMult(p, p, reuse, PETSC_DEFAULT, c)
             : kind == 4 ? MatMatMatMult(a, a, p, reuse, PETSC_DEFAULT, c)
                         : MatMatTransposeMult(p, p, reuse, PETSC_DEFAULT, c);
    };
    // At most 90 terms in each of two products. On several ranks they are added as messages come; on one, always alike.
    const PetscInt    terms = PetscGlobalSize > 1 ? 2 * 92 : 0;
    const std::string what  = "product " + std::to_string(kind);
    Mat               mixed[2], size;
    if (kind == 5 && PetscGlobalSize > 1) continue; // PETSc has it on one rank only
    PetscCall(multiply(A.ours, P.ours, MAT_INITIAL_MATRIX, &C.ours));
    PetscCall(multiply(A.aij, P.aij, MAT_INITIAL_MATRIX, &C.aij));
    PetscCall(multiply(sizes.ours, sizes.aij, MAT_INITIAL_MATRIX, &size));
    PetscCall(CheckSame(C.ours, C.aij, what, size, terms));
    PetscCall(multiply(A.ours, P.aij, MAT_INITIAL_MATRIX, &mixed[0]));
    PetscCall(multiply(A.aij, P.ours, MAT_INITIAL_MATRIX, &mixed[1]));
    for (Mat &m : mixed) { // for these PETSc may choose another algorithm
      PetscCall(CheckSame(m, C.aij, what + ", mixed types", size, 2 * 92));
      PetscCall(MatDestroy(&m));
    }
    for (Mat m : {A.ours, A.aij, P.ours, P.aij, sizes.ours, sizes.aij}) PetscCall(MatScale(m, 2));
    PetscCall(MatScale(size, 8)); // at least: each product has two or three factors
    PetscCall(multiply(A.ours, P.ours, MAT_REUSE_MATRIX, &C.ours));
    PetscCall(multiply(A.aij, P.aij, MAT_REUSE_MATRIX, &C.aij));
    PetscCall(CheckSame(C.ours, C.aij, what + ", reused", size, terms));
    PetscCall(MatDestroy(&size));
    PetscCall(Destroy(&C));
  }
  for (Pair *pair : {&A, &P, &sizes}) PetscCall(Destroy(pair));
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
               {"sparse_dense", SparseDense},
               {"dense_sparse", DenseSparse},
               {"parts", Parts}});
}
