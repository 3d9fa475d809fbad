static const char help[] = "A pattern that is on the device alone: whoever asks for it gets it.\n\n";

#include <petscksp.h>
#include <functional>
#include "away.hpp"
#include "mat/face/pattern.hpp"
#include "sparsegpu.h"

using namespace testing;
using namespace sparsegpu;

namespace
{
Problem TheProblem()
{
  return conformance::Grid("grid", 7, 5, false);
}

PetscErrorCode CreatePlain(const Problem &p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, p.rows, p.cols, 9, nullptr, A));
  for (const conformance::Entry &e : p.entries) PetscCall(MatSetValue(*A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Numbers = std::vector<PetscScalar>;

void Note(Numbers *told, std::initializer_list<PetscScalar> numbers)
{
  told->insert(told->end(), numbers);
}
void NoteIntegers(Numbers *told, PetscInt n, const PetscInt *k)
{
  for (PetscInt q = 0; q < n; q++) told->push_back((PetscReal)k[q]);
}
PetscErrorCode NoteVec(Numbers *told, Vec v)
{
  const PetscScalar *x;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &x));
  told->insert(told->end(), x, x + n);
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// All entries of any matrix, and its size.
PetscErrorCode NoteMat(Numbers *told, Mat A)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  Note(told, {(PetscReal)m, (PetscReal)n});
  for (PetscInt r = 0; r < m; r++) {
    PetscInt           count;
    const PetscInt    *column;
    const PetscScalar *v;
    PetscCall(MatGetRow(A, r, &count, &column, &v));
    NoteIntegers(told, count, column);
    told->insert(told->end(), v, v + count);
    PetscCall(MatRestoreRow(A, r, &count, &column, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode NoteAndDestroy(Numbers *told, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(NoteMat(told, *A));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode NoteIS(Numbers *told, IS is)
{
  PetscInt        n;
  const PetscInt *k;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &k));
  NoteIntegers(told, n, k);
  PetscCall(ISRestoreIndices(is, &k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode NoteInfo(Numbers *told, Mat A)
{
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  Note(told, {(PetscReal)info.nz_used, (PetscReal)info.block_size, (PetscReal)info.fill_ratio_given});
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Vectors(Mat A, Vec *x, Vec *y)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, x, y));
  for (Vec v : {*x, *y}) {
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetArrayWrite(v, &a));
    for (PetscInt k = 0; k < n; k++) a[k] = 1 + (PetscReal)(k % 5) / 4;
    PetscCall(VecRestoreArrayWrite(v, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What reads or writes the matrix A, and tells some numbers; B is another matrix of the same entries and kind.
struct Action {
  const char                                                *name;
  std::function<PetscErrorCode(Mat A, Mat B, Numbers *told)> run;
};

#define ACTION(name, ...)                                                                       \
  {                                                                                             \
    name, [](Mat A, [[maybe_unused]] Mat B, [[maybe_unused]] Numbers *told) -> PetscErrorCode { \
      PetscFunctionBeginUser;                                                                   \
      __VA_ARGS__;                                                                              \
      PetscFunctionReturn(PETSC_SUCCESS);                                                       \
    }                                                                                           \
  }

template <class Call> PetscErrorCode WithVectors(Mat A, Numbers *told, Call call)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(Vectors(A, &x, &y));
  PetscCall(call(x, y));
  PetscCall(NoteVec(told, x));
  PetscCall(NoteVec(told, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowIJ(Mat A, bool columns, bool symmetric, Numbers *told)
{
  PetscInt        n;
  const PetscInt *i, *j;
  PetscBool       done;

  PetscFunctionBeginUser;
  if (columns)
    PetscCall(MatGetColumnIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  else
    PetscCall(MatGetRowIJ(A, 0, symmetric ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not done");
  NoteIntegers(told, n + 1, i);
  NoteIntegers(told, i[n], j);
  if (columns)
    PetscCall(MatRestoreColumnIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  else
    PetscCall(MatRestoreRowIJ(A, 0, symmetric ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubMatrices(Mat A, bool several, Numbers *told)
{
  IS  rows, cols;
  Mat S, *all;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 9, 2, 3, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 20, 1, 1, &cols));
  if (several) {
    PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_INITIAL_MATRIX, &all));
    PetscCall(NoteMat(told, all[0]));
    PetscCall(MatDestroySubMatrices(1, &all));
    PetscCall(MatIncreaseOverlap(A, 1, &rows, 1));
    PetscCall(NoteIS(told, rows));
  } else {
    PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &S));
    PetscCall(NoteAndDestroy(told, &S));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat A, const char *pc_type, const char *ksp_type, Numbers *told)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(WithVectors(A, told, [&](Vec x, Vec y) { return KSPSolve(ksp, y, x); }));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Product(Mat A, Mat B, MatProductType type, Numbers *told)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(A, B, nullptr, &C));
  PetscCall(MatProductSetType(C, type));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(NoteInfo(told, C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Convert(Mat A, MatType type, bool in_place, Numbers *told)
{
  Mat C = A;

  PetscFunctionBeginUser;
  if (in_place) PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatConvert(A, type, in_place ? MAT_INPLACE_MATRIX : MAT_INITIAL_MATRIX, &C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Duplicate(Mat A, MatDuplicateOption option, Numbers *told)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, option, &C));
  PetscCall(NoteInfo(told, C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `allow`: of entries that the pattern lacks. AIJ refuses them otherwise.
PetscErrorCode SetEntry(Mat A, bool allow, PetscInt column, Numbers *told)
{
  PetscErrorCode code;

  PetscFunctionBeginUser;
  if (allow) PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  code = MatSetValue(A, 3, column, 7.5, ADD_VALUES);
  PetscCall(PetscPopErrorHandler());
  Note(told, {(PetscReal)code});
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(NoteInfo(told, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ZeroRows(Mat A, bool columns, bool keep)
{
  const PetscInt rows[] = {0, 6, 11};

  PetscFunctionBeginUser;
  if (keep) PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  if (columns)
    PetscCall(MatZeroRowsColumns(A, 3, rows, 2.5, nullptr, nullptr));
  else
    PetscCall(MatZeroRows(A, 3, rows, 2.5, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Order(Mat A, MatOrderingType type, Numbers *told)
{
  IS rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(A, type, &rows, &cols));
  PetscCall(NoteIS(told, rows));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Permute(Mat A, Numbers *told)
{
  IS  rows, cols;
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(A, MATORDERINGRCM, &rows, &cols));
  PetscCall(MatPermute(A, rows, cols, &C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The bytes of a binary file.
PetscErrorCode View(Mat A, Numbers *told)
{
  PetscViewer viewer;
  Mat         C;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, "pattern_away.bin", FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, "pattern_away.bin", FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &C));
  PetscCall(MatSetType(C, MATSEQAIJ));
  PetscCall(MatLoad(C, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A gets the insides of a copy of B, of another matrix whose pattern is away, or B's own.
PetscErrorCode Replace(Mat A, Mat B)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatHeaderReplace(A, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transpose(Mat A, MatReuse reuse, Numbers *told)
{
  Mat C = A;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(A, reuse, &C));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Concatenate(Mat A, Numbers *told)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatCreateMPIMatConcatenateSeqMat(PETSC_COMM_SELF, A, PETSC_DECIDE, MAT_INITIAL_MATRIX, &C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Arrays(Mat A, bool csr, Numbers *told)
{
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;
  PetscInt        rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  if (csr) {
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
    NoteIntegers(told, rows + 1, i);
    NoteIntegers(told, i[rows], j);
    told->insert(told->end(), a, a + i[rows]);
  } else {
    PetscCall(MatSeqAIJGetArray(A, &a));
    Note(told, {a[0], a[1]});
    a[1] = 44;
    PetscCall(MatSeqAIJRestoreArray(A, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MissingDiagonal(Mat A, Numbers *told)
{
  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 25, 0)
  PetscBool missing;
  PetscInt  row = -1;
  PetscCall(MatMissingDiagonal(A, &missing, &row));
  Note(told, {(PetscReal)missing});
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Equal(Mat A, Mat B, Numbers *told)
{
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(MatEqual(A, B, &equal));
  Note(told, {(PetscReal)equal});
  PetscCall(MatScale(B, 2));
  PetscCall(MatEqual(A, B, &equal));
  Note(told, {(PetscReal)equal});
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Norms(Mat A, Numbers *told)
{
  PetscFunctionBeginUser;
  for (NormType type : {NORM_1, NORM_FROBENIUS, NORM_INFINITY}) {
    PetscReal norm;
    PetscCall(MatNorm(A, type, &norm));
    Note(told, {norm});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense(Mat A, Numbers *told)
{
  Mat      X, C;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, nullptr, &n));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 2, nullptr, &X));
  PetscCall(MatShift(X, 3));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(NoteAndDestroy(told, &C));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Action ACTIONS[] = {
    ACTION("rows", PetscCall(NoteMat(told, A))),
    ACTION("info", PetscCall(NoteInfo(told, A))),
    ACTION("row ij", PetscCall(RowIJ(A, false, false, told))),
    ACTION("row ij, symmetric", PetscCall(RowIJ(A, false, true, told))),
    ACTION("column ij", PetscCall(RowIJ(A, true, false, told))),
    ACTION("missing diagonal", PetscCall(MissingDiagonal(A, told))),
    ACTION("equal", PetscCall(Equal(A, B, told))),
    ACTION("norms", PetscCall(Norms(A, told))),
    ACTION("array", PetscCall(Arrays(A, false, told))),
    ACTION("csr", PetscCall(Arrays(A, true, told))),
    ACTION("sub-matrix", PetscCall(SubMatrices(A, false, told))),
    ACTION("sub-matrices and overlap", PetscCall(SubMatrices(A, true, told))),
    ACTION("duplicate", PetscCall(Duplicate(A, MAT_COPY_VALUES, told))),
    ACTION("duplicate without values", PetscCall(Duplicate(A, MAT_DO_NOT_COPY_VALUES, told))),
    ACTION("transpose", PetscCall(Transpose(A, MAT_INITIAL_MATRIX, told))),
    ACTION("transpose in place", PetscCall(Transpose(A, MAT_INPLACE_MATRIX, told))),
    ACTION("dense", PetscCall(Convert(A, MATSEQDENSE, false, told))),
    ACTION("to aij", PetscCall(Convert(A, MATSEQAIJ, false, told))),
    ACTION("to aij in place", PetscCall(Convert(A, MATSEQAIJ, true, told))),
    ACTION("to baij", PetscCall(Convert(A, MATSEQBAIJ, false, told))),
    ACTION("set a value", PetscCall(SetEntry(A, false, 3, told))),
    ACTION("set a new one", PetscCall(SetEntry(A, true, 30, told))),
    ACTION("set one that is refused", PetscCall(SetEntry(A, false, 30, told))),
    ACTION("zero rows", PetscCall(ZeroRows(A, false, false))),
    ACTION("zero rows, keep", PetscCall(ZeroRows(A, false, true))),
    ACTION("zero rows and columns", PetscCall(ZeroRows(A, true, false))),
    ACTION("zero entries", PetscCall(MatZeroEntries(A))),
    ACTION("scale", PetscCall(MatScale(A, 1.5))),
    ACTION("shift", PetscCall(MatShift(A, 1.5))),
    ACTION("axpy, same", PetscCall(MatAXPY(A, 2, B, SAME_NONZERO_PATTERN))),
    ACTION("axpy, subset", PetscCall(MatAXPY(A, 2, B, SUBSET_NONZERO_PATTERN))),
    ACTION("axpy, different", PetscCall(MatAXPY(A, 2, B, DIFFERENT_NONZERO_PATTERN))),
    ACTION("aypx", PetscCall(MatAYPX(A, 2, B, SAME_NONZERO_PATTERN))),
    ACTION("copy", PetscCall(MatScale(B, 3)); PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN))),
    ACTION("copy, different", PetscCall(MatScale(B, 3)); PetscCall(MatCopy(B, A, DIFFERENT_NONZERO_PATTERN))),
    ACTION("diagonal", PetscCall(WithVectors(A, told, [&](Vec, Vec y) { return MatGetDiagonal(A, y); }))),
    ACTION("diagonal set",
           PetscCall(WithVectors(A, told, [&](Vec, Vec y) { return MatDiagonalSet(A, y, ADD_VALUES); }))),
    ACTION("diagonal scale", PetscCall(WithVectors(A, told, [&](Vec x, Vec y) { return MatDiagonalScale(A, y, x); }))),
    ACTION("largest of rows",
           PetscCall(WithVectors(A, told, [&](Vec, Vec y) { return MatGetRowMaxAbs(A, y, nullptr); }))),
    ACTION("row sums", PetscCall(WithVectors(A, told, [&](Vec, Vec y) { return MatGetRowSum(A, y); }))),
    ACTION("a column", PetscCall(WithVectors(A, told, [&](Vec, Vec y) { return MatGetColumnVector(A, y, 4); }))),
    ACTION("product", PetscCall(WithVectors(A, told, [&](Vec x, Vec y) { return MatMult(A, x, y); }))),
    ACTION("transposed", PetscCall(WithVectors(A, told, [&](Vec x, Vec y) { return MatMultTranspose(A, y, x); }))),
    ACTION("product and sum", PetscCall(WithVectors(A, told, [&](Vec x, Vec y) { return MatMultAdd(A, x, y, y); }))),
    ACTION("sor",
           PetscCall(WithVectors(
               A, told, [&](Vec x, Vec y) { return MatSOR(A, y, 1.1, SOR_LOCAL_SYMMETRIC_SWEEP, 0, 2, 1, x); }))),
    ACTION("lu", PetscCall(Solve(A, PCLU, KSPPREONLY, told))),
    ACTION("ilu", PetscCall(Solve(A, PCILU, KSPGMRES, told))),
    ACTION("block jacobi", PetscCall(Solve(A, PCBJACOBI, KSPGMRES, told))),
    ACTION("asm", PetscCall(Solve(A, PCASM, KSPGMRES, told))),
    ACTION("A B", PetscCall(Product(A, B, MATPRODUCT_AB, told))),
    ACTION("A^T B", PetscCall(Product(A, B, MATPRODUCT_AtB, told))),
    ACTION("B^T A B", PetscCall(Product(A, B, MATPRODUCT_PtAP, told))),
    ACTION("with a dense one", PetscCall(Dense(A, told))),
    ACTION("order nd", PetscCall(Order(A, MATORDERINGND, told))),
    ACTION("permute", PetscCall(Permute(A, told))),
    ACTION("view and load", PetscCall(View(A, told))),
    ACTION("replace", PetscCall(Replace(A, B))),
    ACTION("concatenate", PetscCall(Concatenate(A, told))),
    ACTION("symmetric", PetscBool is; PetscCall(MatIsSymmetric(A, 0, &is)); Note(told, {(PetscReal)is})),
    ACTION("another preallocation", PetscCall(MatSeqAIJSetPreallocation(A, 3, nullptr));
           PetscCall(MatSetValue(A, 1, 2, 3, INSERT_VALUES)); PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
           PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY))),
    ACTION("set up", PetscCall(MatSetUp(A))),
    ACTION("bind", PetscCall(MatBindToCPU(A, PETSC_TRUE))),
    ACTION("nothing", ),
};

/// A and B away, and the same of plain AIJ: they tell the same, and the same is left.
PetscErrorCode RunOne(const Action &action, bool both)
{
  const Problem p = TheProblem();
  Mat           A, B, plain_A, plain_B;
  Numbers       told, expected;

  PetscFunctionBeginUser;
  PetscCall(CreateAway(p, &A));
  if (both)
    PetscCall(CreateAway(p, &B));
  else
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  if (!both) { // A has been asked for its pattern
    PetscCall(MatDestroy(&A));
    PetscCall(CreateAway(p, &A));
  }
  PetscCall(CreatePlain(p, &plain_A));
  PetscCall(CreatePlain(p, &plain_B));
  for (Mat plain : {plain_A, plain_B}) PetscCall(MatSetOption(plain, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE));
  PetscCall(action.run(A, B, &told));
  PetscCall(action.run(plain_A, plain_B, &expected));
  for (Mat ours : {A, B}) PetscCall(NoteMat(&told, ours));
  for (Mat plain : {plain_A, plain_B}) PetscCall(NoteMat(&expected, plain));
  PetscCheck(told.size() == expected.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu numbers, not %zu", action.name,
             told.size(), expected.size());
  for (size_t k = 0; k < told.size(); k++)
    PetscCheck(PetscAbsScalar(told[k] - expected[k]) <= 1e3 * PETSC_MACHINE_EPSILON * (1 + PetscAbsScalar(expected[k])),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: number %zu is %g, not %g", action.name, k,
               (double)PetscRealPart(told[k]), (double)PetscRealPart(expected[k]));
  for (Mat *M : {&A, &B, &plain_A, &plain_B}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CannotRun(bool *cannot)
{
  PetscBool found;

  PetscFunctionBeginUser;
  *cannot = false;
  if (Elsewhere() == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFound(&found));
  *cannot = !found;
  if (*cannot) PetscCall(Skip("there is no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Readers()
{
  bool cannot;

  PetscFunctionBeginUser;
  PetscCall(CannotRun(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Action &action : ACTIONS)
    for (bool both : {true, false}) PetscCall(RunOne(action, both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each operation of AIJ is another one while the pattern is away, but for those that do not read it.
PetscErrorCode Operations()
{
  const std::set<size_t> safe = {
      offsetof(struct _MatOps, restorerow), // of what is home then
      offsetof(struct _MatOps, restorerowij),
      offsetof(struct _MatOps, restorecolumnij),
      offsetof(struct _MatOps, destroysubmatrices),
      offsetof(struct _MatOps, setup),                     // of a matrix that is not preallocated
      offsetof(struct _MatOps, matsolve),                  // of factors
      offsetof(struct _MatOps, transcoloringapplysptoden), // of MatTransposeColoringCreate()
      offsetof(struct _MatOps, transcoloringapplydentosp),
  };
  const struct _MatOps *parent;
  Mat                   A;
  bool                  cannot;

  PetscFunctionBeginUser;
  PetscCall(CannotRun(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateAway(TheProblem(), &A));
  PetscCall(face::GetParentOps(false, &parent));
  PetscCall(CheckOperations(A, parent, safe));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc sees the same states before and after the pattern has come home.
PetscErrorCode States()
{
  Mat              A;
  PetscObjectState state, nonzero, later;
  bool             cannot;

  PetscFunctionBeginUser;
  PetscCall(CannotRun(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateAway(TheProblem(), &A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatGetNonzeroState(A, &nonzero));
  PetscCall(face::BringPatternHome(A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &later));
  PetscCheck(later == state, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The state has moved");
  PetscCall(MatGetNonzeroState(A, &later));
  PetscCheck(later == nonzero && A->assembled, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The nonzero state has moved");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// What KSPView() shows of A.
PetscErrorCode FewFacts(Mat A, std::string *text)
{
  char        file[] = "/tmp/pattern_away_XXXXXX", part[4096];
  const int   handle = mkstemp(file);
  PetscViewer viewer;
  size_t      got;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  FILE *f = fdopen(handle, "r");
  text->clear();
  while ((got = fread(part, 1, sizeof(part), f)) > 0) text->append(part, got);
  fclose(f);
  remove(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Few facts of a matrix whose format is known are told without its pattern; they are those told with it.
PetscErrorCode Views()
{
  Mat            A;
  Vec            x, y;
  face::Context *context;
  std::string    away, home;
  bool           cannot;

  PetscFunctionBeginUser;
  PetscCall(CannotRun(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateAway(TheProblem(), &A));
  PetscCall(face::GetContext(A, &context));
  PetscCall(MatSparseGPUSetFormat(A, "csr"));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  const bool before = context->rows.pattern_away();
  PetscCall(FewFacts(A, &away));
  PetscCheck(context->rows.pattern_away() == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A view moved the pattern");
  PetscCall(face::BringPatternHome(A));
  PetscCall(FewFacts(A, &home));
  PetscCheck(away == home && home.find("csr") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, at home %s",
             away.c_str(), home.c_str());
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"readers", Readers}, {"operations", Operations}, {"states", States}, {"views", Views}});
}
