static const char help[] =
    "Operations on values of a parallel matrix that are away from the host: done where these are.\n\n";

#include "hidden_rows.hpp"

using namespace testing;

namespace
{
struct Operation {
  const char *name;
  PetscErrorCode (*call)(Mat A, Mat other, Vec v, PetscReal *norm); ///< v: of rows and of columns
};

/// Rows of every rank, of others and twice, and what becomes of a right-hand side.
PetscErrorCode ZeroSome(Mat A, Vec v, PetscScalar diagonal, PetscReal *norm)
{
  const PetscInt rows[] = {17, 3, 0, 59, 3, 40};
  Vec            b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(v, &b));
  PetscCall(VecSet(b, 0.75));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(A, PetscGlobalRank ? 2 : 6, rows, diagonal, v, b));
  PetscCall(VecNorm(b, NORM_2, norm));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A duplicate that has been doubled: it must not be A's values that are.
PetscErrorCode Duplicate(Mat A, Mat, Vec, PetscReal *norm)
{
  Mat     B;
  Numbers product;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2));
  PetscCall(MatNorm(B, NORM_1, norm)); // the host's
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Three of A's diagonals, with other ghosts than A's, are added twice: to their own pattern and to A's.
PetscErrorCode Subset(Mat A, Mat, Vec, PetscReal *)
{
  Mat      few, same;
  MatType  type;
  PetscInt m, n, begin, end;
  Numbers  product;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &few));
  PetscCall(MatSetSizes(few, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(few, type));
  PetscCall(MatMPIAIJSetPreallocation(few, 3, nullptr, 3, nullptr));
  PetscCall(MatGetOwnershipRange(few, &begin, &end));
  for (PetscInt i = begin; i < end; ++i)
    for (PetscInt j : {i - 20, i, i + 1})
      if (j >= 0 && j < 60) PetscCall(MatSetValue(few, i, j, (PetscReal)(i + 2 * j + 1) / 8, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(few, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(few, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(few, MAT_COPY_VALUES, &same));
  PetscCall(Multiply(few, &product)); // hides the values of ours
  PetscCall(Multiply(same, &product));
  PetscCall(MatAXPY(few, 0.5, same, SUBSET_NONZERO_PATTERN));
  PetscCall(MatAXPY(A, -3, few, SUBSET_NONZERO_PATTERN));
  PetscCall(MatAYPX(A, 2, same, SUBSET_NONZERO_PATTERN));
  PetscCall(MatDestroy(&few));
  PetscCall(MatDestroy(&same));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Diagonal(Mat A, Mat, Vec v, PetscReal *norm)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonal(A, v));
  PetscCall(VecNorm(v, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode RowMaxima(Mat A, Mat, Vec v, PetscReal *norm)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetRowMaxAbs(A, v, nullptr));
  PetscCall(VecNorm(v, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#if PETSC_VERSION_GE(3, 24, 0)
PetscErrorCode RowSums(Mat A, Mat, Vec v, PetscReal *norm)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetRowSumAbs(A, v));
  PetscCall(VecNorm(v, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

const Operation operations[] = {
    {"scale", [](Mat A, Mat, Vec, PetscReal *) { return MatScale(A, -3); }},
    {"zero", [](Mat A, Mat, Vec, PetscReal *) { return MatZeroEntries(A); }},
    {"shift", [](Mat A, Mat, Vec, PetscReal *) { return MatShift(A, 0.75); }},
    {"diagonal_insert", [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalSet(A, v, INSERT_VALUES); }},
    {"diagonal_add", [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalSet(A, v, ADD_VALUES); }},
    {"scale_left", [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, v, nullptr); }},
    {"scale_right", [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, nullptr, v); }},
    {"scale_both", [](Mat A, Mat, Vec v, PetscReal *) { return MatDiagonalScale(A, v, v); }},
    {"axpy", [](Mat A, Mat other, Vec, PetscReal *) { return MatAXPY(A, 2, other, SAME_NONZERO_PATTERN); }},
    {"aypx", [](Mat A, Mat other, Vec, PetscReal *) { return MatAYPX(A, 2, other, SAME_NONZERO_PATTERN); }},
    {"copy", [](Mat A, Mat other, Vec, PetscReal *) { return MatCopy(other, A, SAME_NONZERO_PATTERN); }},
    {"conjugate", [](Mat A, Mat, Vec, PetscReal *) { return MatConjugate(A); }},
    {"real_part", [](Mat A, Mat, Vec, PetscReal *) { return MatRealPart(A); }},
    {"imaginary_part", [](Mat A, Mat, Vec, PetscReal *) { return MatImaginaryPart(A); }},
    {"zero_rows", [](Mat A, Mat, Vec v, PetscReal *norm) { return ZeroSome(A, v, 0, norm); }},
    {"zero_rows_diagonal", [](Mat A, Mat, Vec v, PetscReal *norm) { return ZeroSome(A, v, 3, norm); }},
    {"subset", Subset},
    {"duplicate", Duplicate},
    {"frobenius", [](Mat A, Mat, Vec, PetscReal *norm) { return MatNorm(A, NORM_FROBENIUS, norm); }},
    {"infinity", [](Mat A, Mat, Vec, PetscReal *norm) { return MatNorm(A, NORM_INFINITY, norm); }},
    {"diagonal", Diagonal},
    {"row_maxima", RowMaxima},
#if PETSC_VERSION_GE(3, 24, 0)
    {"row_sums", RowSums},
#endif
};

/// Each operation, on layouts with ranks that have nothing, and its result; no value comes to the host.
PetscErrorCode Operations()
{
  bool cannot = false;

  PetscFunctionBeginUser;
  PetscCall(HideRowsIfAsked(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  for (Layout layout : {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast})
    for (const Operation &operation : operations) // some of which ask for the pattern
      PetscCall(CheckPair(operation.name, layout, !hiding.hide, [&](Mat A, Mat other, Numbers *numbers) {
        Vec       v;
        PetscReal norm = 0;
        PetscInt  begin, end;
        PetscFunctionBeginUser;
        PetscCall(MatCreateVecs(A, &v, nullptr));
        PetscCall(VecGetOwnershipRange(v, &begin, &end));
        for (PetscInt k = begin; k < end; ++k) PetscCall(VecSetValue(v, k, 1 + (PetscReal)(k % 5) / 4, INSERT_VALUES));
        PetscCall(VecAssemblyBegin(v));
        PetscCall(VecAssemblyEnd(v));
        PetscCall((*operation.call)(A, other, v, &norm));
        numbers->push_back(norm);
        PetscCall(VecDestroy(&v));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the host has to do all the same, on all ranks if it has to on one: a diagonal of which one entry is missing,
/// sums of other patterns, columns of maxima, rows without a diagonal entry.
PetscErrorCode Host()
{
  Numbers product[2];

  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ++ours) {
    const char *const type = ours ? MATMPIAIJSPARSEGPU : MATMPIAIJ;
    Problem           p    = WithValues(Coupled(), 0);
    for (size_t k = p.entries.size(); k-- > 0;)
      if (p.entries[k].i == 59 && p.entries[k].j == 59) p.entries.erase(p.entries.begin() + (std::ptrdiff_t)k);
    const Problem         q = WithValues(conformance::Banded("others", 60, 60, {-7, 0}), 0);
    Mat                   A, more;
    Vec                   v;
    PetscInt              begin, end;
    std::vector<PetscInt> columns;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, type, nullptr, Layout::Even, &A));
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, q, type, nullptr, Layout::Even, &more));
    PetscCall(Multiply(A, &product[ours]));
    PetscCall(Multiply(more, &product[ours]));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatShift(A, 2));
    PetscCall(Multiply(A, &product[ours]));
    PetscCall(MatAXPY(A, 3, more, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&more));
    PetscCall(Multiply(A, &product[ours]));
    PetscCall(MatScale(A, 0.5));
    PetscCall(MatCreateVecs(A, &v, nullptr));
    PetscCall(VecGetOwnershipRange(v, &begin, &end));
    columns.resize((size_t)(end - begin));
    PetscCall(MatGetRowMaxAbs(A, v, columns.data()));
    for (PetscInt c : columns) product[ours].push_back((PetscReal)c);
    PetscCall(Multiply(A, &product[ours]));
    PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Compare("what the host does", product[1], product[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Symmetry is forgotten, and kept, as by PETSc; a matrix whose blocks are away can be destroyed and converted.
PetscErrorCode Kept()
{
  Mat       A, B;
  PetscBool set, is;
  Numbers   product, again;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 0), MATMPIAIJSPARSEGPU, "csr", Layout::Even, &A));
  PetscCall(Multiply(A, &product));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatScale(A, 2));
  PetscCall(MatIsSPDKnown(A, &set, &is));
  PetscCheck(set && is, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not known to be positive definite after MatScale()");
  PetscCall(MatShift(A, -100));
  PetscCall(MatIsSPDKnown(A, &set, &is));
  PetscCheck(!set, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Still known to be positive definite after MatShift()");
  PetscCall(MatShift(A, 100));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Multiply(A, &again));
  PetscCall(Compare("shifted and back", again, product));
  PetscCall(MatConvert(A, MATMPIAIJ, MAT_INPLACE_MATRIX, &A));
  again.clear();
  PetscCall(Multiply(A, &again));
  PetscCall(Compare("converted in place", again, product));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 1), MATMPIAIJSPARSEGPU, "csr", Layout::Even, &A));
  PetscCall(MatHeaderReplace(A, &B)); // B's insides are away
  B = A;
  again.clear();
  PetscCall(Multiply(B, &again));
  PetscCall(Compare("the insides of the duplicate", again, product));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What MatCreateVecs() gives: its sizes and type, and its values, which are zero.
PetscErrorCode NoteVectors(Mat A, Numbers *numbers)
{
  Vec vectors[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &vectors[0], &vectors[1]));
  for (Vec v : vectors) {
    PetscInt    n, N, begin, end, size;
    PetscReal   norm;
    PetscScalar sum;
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetSize(v, &N));
    PetscCall(VecGetOwnershipRange(v, &begin, &end));
    PetscCall(VecGetBlockSize(v, &size));
    PetscCall(VecNorm(v, NORM_2, &norm));
    PetscCall(VecShift(v, 1));
    PetscCall(VecSum(v, &sum));
    for (PetscInt number : {n, N, begin, end, size}) numbers->push_back((PetscReal)number);
    numbers->push_back(norm);
    numbers->push_back(sum);
    PetscCall(VecDestroy(&v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors are as those of PETSc's type, before the matrix has been preallocated, too, and after it has become plain.
PetscErrorCode Vectors()
{
  PetscFunctionBeginUser;
  for (Layout layout : {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast}) {
    Numbers numbers[2];
    for (int ours = 0; ours < 2; ++ours) {
      const char *const type = ours ? MATMPIAIJSPARSEGPU : MATMPIAIJ;
      Mat               A;
      PetscInt          m, n;
      PetscCall(LocalSize(PETSC_COMM_WORLD, layout, true, 30, &m));
      PetscCall(LocalSize(PETSC_COMM_WORLD, layout, false, 20, &n));
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, 3 * m, 2 * n, PETSC_DETERMINE, PETSC_DETERMINE));
      PetscCall(MatSetBlockSizes(A, 3, 2));
      PetscCall(MatSetType(A, type));
      if (!ours) { // else older versions of PETSc give vectors whose sizes are not known
        PetscLayout rows, columns;
        PetscCall(MatGetLayouts(A, &rows, &columns));
        PetscCall(PetscLayoutSetUp(rows));
        PetscCall(PetscLayoutSetUp(columns));
      }
      PetscCall(NoteVectors(A, &numbers[ours]));
      PetscCall(MatDestroy(&A));
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 0), type, nullptr, layout, &A));
      PetscCall(NoteVectors(A, &numbers[ours]));
      PetscCall(MatConvert(A, MATMPIAIJ, MAT_INPLACE_MATRIX, &A));
      PetscCheck(!A->ops->getvecs, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plain matrix creates vectors as ours does");
      PetscCall(NoteVectors(A, &numbers[ours]));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(Compare(std::string("vectors, ") + Name(layout), numbers[1], numbers[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"operations", Operations}, {"host", Host}, {"kept", Kept}, {"vectors", Vectors}});
}
