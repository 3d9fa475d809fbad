static const char help[] =
    "Operations on values that are away from the host: done where these are, with plain AIJ's results.\n\n";

#include "values.hpp"

using namespace testing;

namespace
{
struct Operation {
  const char *name;
  bool        writes;
  PetscErrorCode (*call)(Mat A, Mat other, Vec v, PetscReal *result); ///< v: of rows and of columns
};

PetscErrorCode First(Vec v, PetscReal *result)
{
  PetscFunctionBeginUser;
  PetscCall(VecNorm(v, NORM_2, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DiagonalSet(Mat A, Vec v, InsertMode mode)
{
  PetscFunctionBeginUser;
  PetscCall(MatDiagonalSet(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// B takes the place of A's values.
PetscErrorCode CopyOfOther(Mat A, Mat other, Vec, PetscReal *)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A's product with v, once a duplicate has been doubled: it must not be A's values that are.
PetscErrorCode Duplicate(Mat A, Mat, Vec v, PetscReal *result)
{
  Mat       B;
  Vec       y;
  PetscReal doubled;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2));
  PetscCall(VecDuplicate(v, &y));
  PetscCall(MatMult(B, v, y));
  PetscCall(VecNorm(y, NORM_2, &doubled));
  PetscCall(MatNorm(A, NORM_FROBENIUS, result));
  *result += doubled;
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Some rows, one of them twice, and what becomes of a right-hand side.
PetscErrorCode ZeroSome(Mat A, Vec v, bool columns, PetscScalar diagonal, PetscReal *norm)
{
  const PetscInt rows[] = {17, 3, 0, 399, 3, 200};
  Vec            b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(v, &b));
  PetscCall(VecSet(b, 0.75));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(columns ? MatZeroRowsColumns(A, 6, rows, diagonal, v, b) : MatZeroRows(A, 6, rows, diagonal, v, b));
  PetscCall(First(b, norm));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation operations[] = {
    {"scale", true, [](Mat A, Mat, Vec, PetscReal *) { return MatScale(A, -3); }},
    {"shift", true, [](Mat A, Mat, Vec, PetscReal *) { return MatShift(A, 0.7); }},
    {"diagonal_insert", true, [](Mat A, Mat, Vec v, PetscReal *) { return DiagonalSet(A, v, INSERT_VALUES); }},
    {"diagonal_add", true, [](Mat A, Mat, Vec v, PetscReal *) { return DiagonalSet(A, v, ADD_VALUES); }},
    {"scale_left", true, [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, v, nullptr); }},
    {"scale_right", true, [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, nullptr, v); }},
    {"scale_both", true, [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, v, v); }},
    {"axpy", true, [](Mat A, Mat other, Vec, PetscReal *) { return MatAXPY(A, 2, other, SAME_NONZERO_PATTERN); }},
    {"axpy_unknown", true,
     [](Mat A, Mat other, Vec, PetscReal *) { return MatAXPY(A, 2, other, UNKNOWN_NONZERO_PATTERN); }},
    {"aypx", true, [](Mat A, Mat other, Vec, PetscReal *) { return MatAYPX(A, 2, other, SAME_NONZERO_PATTERN); }},
    {"copy", true, CopyOfOther},
    {"conjugate", true, [](Mat A, Mat, Vec, PetscReal *) { return MatConjugate(A); }},
    {"real_part", true, [](Mat A, Mat, Vec, PetscReal *) { return MatRealPart(A); }},
    {"imaginary_part", true, [](Mat A, Mat, Vec, PetscReal *) { return MatImaginaryPart(A); }},
    {"zero", true, [](Mat A, Mat, Vec, PetscReal *) { return MatZeroEntries(A); }},
    {"zero_rows", true, [](Mat A, Mat, Vec v, PetscReal *norm) { return ZeroSome(A, v, false, 0, norm); }},
    {"zero_rows_diagonal", true, [](Mat A, Mat, Vec v, PetscReal *norm) { return ZeroSome(A, v, false, 3, norm); }},
    {"zero_rows_columns", true, [](Mat A, Mat, Vec v, PetscReal *norm) { return ZeroSome(A, v, true, 3, norm); }},
    {"duplicate", false, Duplicate},
    {"frobenius", false, [](Mat A, Mat, Vec, PetscReal *norm) { return MatNorm(A, NORM_FROBENIUS, norm); }},
    {"infinity", false, [](Mat A, Mat, Vec, PetscReal *norm) { return MatNorm(A, NORM_INFINITY, norm); }},
    {"diagonal", false,
     [](Mat A, Mat, Vec v, PetscReal *norm) {
       PetscFunctionBeginUser;
       PetscCall(MatGetDiagonal(A, v));
       PetscCall(First(v, norm));
       PetscFunctionReturn(PETSC_SUCCESS);
     }},
#if PETSC_VERSION_GE(3, 24, 0)
    {"row_sums", false,
     [](Mat A, Mat, Vec v, PetscReal *norm) {
       PetscFunctionBeginUser;
       PetscCall(MatGetRowSumAbs(A, v));
       PetscCall(First(v, norm));
       PetscFunctionReturn(PETSC_SUCCESS);
     }},
#endif
    {"row_maxima", false,
     [](Mat A, Mat, Vec v, PetscReal *norm) {
       PetscFunctionBeginUser;
       PetscCall(MatGetRowMaxAbs(A, v, nullptr));
       PetscCall(First(v, norm));
       PetscFunctionReturn(PETSC_SUCCESS);
     }},
};

PetscErrorCode Check(const Operation &operation, const Problem &p)
{
  Mat                      A[2], other[2];
  Vec                      v;
  PetscReal                result[2] = {0, 0};
  std::vector<PetscScalar> product[2];
  const PetscScalar       *host;

  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ++ours) {
    const char *const type = ours ? MATSPARSEGPU : MATAIJ;
    PetscCall(MakeMatrix(p, type, 0, &A[ours]));
    PetscCall(MakeMatrix(p, type, 1, &other[ours]));
    PetscCall(MatSeqAIJGetArrayRead(A[ours], &host));
    const PetscScalar *const place = host; // stays where it is
    PetscCall(MatSeqAIJRestoreArrayRead(A[ours], &host));
    PetscCall(Multiply(other[ours], &product[ours]));
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(MatCreateVecs(A[ours], &v, nullptr));
    PetscCall(VecSet(v, 1.25));
    PetscCall((*operation.call)(A[ours], other[ours], v, &result[ours]));
    if (ours)
      PetscCheck(place[0] != place[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the values have come to the host",
                 operation.name);
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(VecDestroy(&v));
  }
  PetscCall(Compare(operation.name, product[1], product[0]));
  PetscCheck(PetscAbsReal(result[1] - result[0]) <= 100 * PETSC_MACHINE_EPSILON * result[0], PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: %g, not %g", operation.name, (double)result[1], (double)result[0]);
  PetscReal norm[2]; // and once they are home
  for (int ours = 0; ours < 2; ++ours) {
    PetscCall(MatNorm(A[ours], NORM_1, &norm[ours]));
    PetscCall(MatDestroy(&A[ours]));
    PetscCall(MatDestroy(&other[ours]));
  }
  PetscCheck(PetscAbsReal(norm[1] - norm[0]) <= 100 * PETSC_MACHINE_EPSILON * norm[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: norm %g on the host, not %g", operation.name, (double)norm[1], (double)norm[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operations()
{
  std::vector<PetscInt> many(36); // so long rows are shared by the threads of a warp
  for (size_t k = 0; k < many.size(); ++k) many[k] = 3 * (PetscInt)k - 54;

  PetscFunctionBeginUser;
  for (const Operation &operation : operations) {
    if (!PetscDefined(USE_COMPLEX) && !strcmp(operation.name, "conjugate")) continue; // does nothing
    PetscCall(Check(operation, conformance::Grid("grid", 20, 20, false)));
    PetscCall(Check(operation, conformance::Banded("bands", 400, 400, {-20, -1, 0, 1, 20})));
    PetscCall(Check(operation, conformance::Banded("many_bands", 400, 400, many)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the host has to do all the same: entries that are not there, other patterns, columns of maxima.
PetscErrorCode Host()
{
  const Problem            p = conformance::Banded("no_diagonal", 60, 60, {-2, 3});
  std::vector<PetscScalar> product[2];
  Mat                      A[2];

  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ++ours) {
    Mat more;
    PetscCall(MakeMatrix(p, ours ? MATSPARSEGPU : MATAIJ, 0, &A[ours]));
    PetscCall(MakeMatrix(conformance::Banded("others", 60, 60, {-1, 0}), ours ? MATSPARSEGPU : MATAIJ, 0, &more));
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(Multiply(more, &product[ours]));
    PetscCall(MatSetOption(A[ours], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatShift(A[ours], 2));
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(MatAXPY(A[ours], 3, more, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&more));
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(MatScale(A[ours], 0.5));
    PetscCall(Multiply(A[ours], &product[ours]));
    PetscCall(MatDestroy(&A[ours]));
  }
  PetscCall(Compare("sums of other patterns", product[1], product[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"operations", Operations}, {"host", Host}});
}
