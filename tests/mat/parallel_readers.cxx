static const char help[] = "Whatever PETSc reads of a parallel matrix on the host, it gets the values of now.\n\n";

#include "hidden_rows.hpp"

using namespace testing;

namespace
{
using Reader = PetscErrorCode (*)(Mat A, Mat other, Numbers *numbers);
struct Named {
  const char *name;
  Reader      read;
};

PetscErrorCode CheckAll(const std::vector<Named> &readers)
{
  bool cannot = false;

  PetscFunctionBeginUser;
  PetscCall(HideRowsIfAsked(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  for (Layout layout : {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast})
    for (const Named &reader : readers)
      if (!hiding.hide || !strstr(reader.name, "GetLocalMat")) // which reads the blocks' arrays at once
        PetscCall(CheckPair(reader.name, layout, false, reader.read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Entries(Mat A, Numbers *numbers)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(Gather(A, &p));
  for (const conformance::Entry &e : p.entries) numbers->push_back(e.v);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode EntriesAndDestroy(Mat A, Numbers *numbers)
{
  PetscFunctionBeginUser;
  PetscCall(Entries(A, numbers));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnedRows(Mat A, Numbers *numbers)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i)
    for (PetscInt j = 0; j < 60; j += 10) {
      PetscScalar v;
      PetscCall(MatGetValue(A, i, j, &v));
      numbers->push_back(v);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode ColumnNorms(Mat A, NormType type, Numbers *numbers)
{
  std::vector<PetscReal> norms(60);

  PetscFunctionBeginUser;
  PetscCall(MatGetColumnNorms(A, type, norms.data()));
  numbers->insert(numbers->end(), norms.begin(), norms.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode RowExtremes(Mat A, PetscErrorCode (*get)(Mat, Vec, PetscInt[]), Numbers *numbers)
{
  Vec       v;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, nullptr, &v));
  PetscCall((*get)(A, v, nullptr));
  PetscCall(VecNorm(v, NORM_2, &norm));
  numbers->push_back(norm);
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The digits of what MatView() writes, on the first rank.
PetscErrorCode Viewed(Mat A, PetscViewerFormat format, Numbers *numbers)
{
  std::string text;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)A, "A")); // PETSc numbers those without a name
  PetscCall(ViewText(A, format, "parallel_readers", &text));
  for (char c : text)
    if (c >= '0' && c <= '9') numbers->push_back(c - '0');
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows, values, norms and views.
PetscErrorCode Rows()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll({
    {"MatGetRow", [](Mat A, Mat, Numbers *n) { return Entries(A, n); }},
        {"MatGetValue", [](Mat A, Mat, Numbers *n) { return OwnedRows(A, n); }},
        {"MatGetColumnNorms 1", [](Mat A, Mat, Numbers *n) { return ColumnNorms(A, NORM_1, n); }},
        {"MatGetColumnNorms 2", [](Mat A, Mat, Numbers *n) { return ColumnNorms(A, NORM_2, n); }},
        {"MatGetColumnNorms infinity", [](Mat A, Mat, Numbers *n) { return ColumnNorms(A, NORM_INFINITY, n); }},
#if !defined(PETSC_USE_COMPLEX)
        {"MatGetRowMax", [](Mat A, Mat, Numbers *n) { return RowExtremes(A, MatGetRowMax, n); }},
        {"MatGetRowMin", [](Mat A, Mat, Numbers *n) { return RowExtremes(A, MatGetRowMin, n); }},
#endif
        {"MatGetRowMinAbs", [](Mat A, Mat, Numbers *n) { return RowExtremes(A, MatGetRowMinAbs, n); }},
        {"MatView", [](Mat A, Mat, Numbers *n) { return Viewed(A, PETSC_VIEWER_ASCII_MATLAB, n); }},
        {"MatGetColumnVector",
         [](Mat A, Mat, Numbers *n) {
           Vec       v;
           PetscReal norm;
           PetscFunctionBeginUser;
           PetscCall(MatCreateVecs(A, nullptr, &v));
           PetscCall(MatGetColumnVector(A, v, 30));
           PetscCall(VecNorm(v, NORM_2, &norm));
           n->push_back(norm);
           PetscCall(VecDestroy(&v));
           PetscFunctionReturn(PETSC_SUCCESS);
         }},
        {"MatFindZeroDiagonals",
         [](Mat A, Mat, Numbers *n) {
           IS       zero;
           PetscInt count;
           PetscFunctionBeginUser;
           PetscCall(MatFindZeroDiagonals(A, &zero));
           PetscCall(ISGetSize(zero, &count));
           n->push_back((PetscReal)count);
           PetscCall(ISDestroy(&zero));
           PetscFunctionReturn(PETSC_SUCCESS);
         }},
        {"MatEqual",
         [](Mat A, Mat other, Numbers *n) {
           Mat       B;
           PetscBool same[2];
           PetscFunctionBeginUser;
           PetscCall(MatConvert(A, MATMPIAIJ, MAT_INITIAL_MATRIX, &B));
           PetscCall(MatEqual(A, B, &same[0]));
           PetscCall(MatEqual(other, A, &same[1]));
           n->push_back((PetscReal)(same[0] + 2 * same[1]));
           PetscCall(MatDestroy(&B));
           PetscFunctionReturn(PETSC_SUCCESS);
         }},
        {"MatIsTranspose", [](Mat A, Mat other, Numbers *n) {
           Mat       B;
           PetscBool is[2];
           PetscFunctionBeginUser;
           PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
           PetscCall(MatIsTranspose(A, B, 0, &is[0]));
           PetscCall(MatIsTranspose(other, A, 0, &is[1]));
           n->push_back((PetscReal)(is[0] + 2 * is[1]));
           PetscCall(MatDestroy(&B));
           PetscFunctionReturn(PETSC_SUCCESS);
         }},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every third column and other row of the calling rank's, or of all.
PetscErrorCode Sets(Mat A, bool all, IS *rows, IS *cols)
{
  PetscInt begin = 0, end = 60;
  MPI_Comm comm = all ? PETSC_COMM_SELF : PETSC_COMM_WORLD;

  PetscFunctionBeginUser;
  if (!all) PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(ISCreateStride(comm, (end - begin + 1) / 2, begin, 2, rows));
  if (!all) PetscCall(MatGetOwnershipRangeColumn(A, &begin, &end));
  PetscCall(ISCreateStride(comm, (end - begin + 2) / 3, begin, 3, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SubMatrix(Mat A, Mat, Numbers *numbers)
{
  IS  rows, cols;
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(Sets(A, false, &rows, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &B));
  PetscCall(Multiply(B, numbers)); // hides the part's
  PetscCall(Multiply(A, numbers));
  PetscCall(MatScale(A, 2));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &B));
  PetscCall(Entries(B, numbers));
  PetscCall(MatDestroy(&B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SubMatrices(Mat A, Mat, Numbers *numbers)
{
  IS        rows, cols;
  Mat      *B;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(Sets(A, true, &rows, &cols));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_INITIAL_MATRIX, &B));
  for (int round = 0; round < 2; ++round) {
    PetscCall(MatNorm(B[0], NORM_1, &norm));
    numbers->push_back(norm);
    PetscCall(Multiply(A, numbers));
    PetscCall(MatScale(A, 2));
    PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_REUSE_MATRIX, &B));
  }
  PetscCall(MatDestroySubMatrices(1, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode LocalMatrix(Mat A, bool merged, Numbers *numbers)
{
  Mat       B;
  IS        columns = nullptr;
  PetscReal norm;

  PetscFunctionBeginUser;
  for (int round = 0; round < 2; ++round) {
    const MatReuse reuse = round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;
    if (merged)
      PetscCall(MatMPIAIJGetLocalMatMerge(A, reuse, round ? nullptr : &columns, &B));
    else
      PetscCall(MatMPIAIJGetLocalMat(A, reuse, &B));
    PetscCall(MatNorm(B, NORM_1, &norm));
    numbers->push_back(norm);
    PetscCall(Multiply(A, numbers));
    PetscCall(MatScale(A, 2));
  }
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The blocks themselves, which somebody keeps beyond A's changes.
PetscErrorCode DiagonalBlock(Mat A, Mat, Numbers *numbers)
{
  Mat       blocks[2], diagonal;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, &diagonal));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  for (int round = 0; round < 2; ++round) {
    for (Mat block : {diagonal, blocks[0], blocks[1]}) {
      PetscCall(MatNorm(block, NORM_1, &norm));
      numbers->push_back(norm);
    }
    PetscCall(Multiply(A, numbers));
    PetscCall(MatScale(blocks[1], 2)); // behind A's back, whose state moves with the next
    PetscCall(MatScale(A, 2));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Converted(Mat A, MatType type, Numbers *numbers)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(Multiply(B, numbers));
  PetscCall(Multiply(A, numbers));
  PetscCall(MatScale(A, 2));
  PetscCall(MatConvert(A, type, MAT_REUSE_MATRIX, &B));
  PetscCall(Multiply(B, numbers));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Parts, copies and conversions.
PetscErrorCode Parts()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll({
      {"MatCreateSubMatrix", SubMatrix},
      {"MatCreateSubMatrices", SubMatrices},
      {"MatMPIAIJGetLocalMat", [](Mat A, Mat, Numbers *n) { return LocalMatrix(A, false, n); }},
      {"MatMPIAIJGetLocalMatMerge", [](Mat A, Mat, Numbers *n) { return LocalMatrix(A, true, n); }},
      {"MatGetDiagonalBlock", DiagonalBlock},
      {"MatConvert to aij", [](Mat A, Mat, Numbers *n) { return Converted(A, MATMPIAIJ, n); }},
      {"MatConvert to baij", [](Mat A, Mat, Numbers *n) { return Converted(A, MATMPIBAIJ, n); }},
      {"MatConvert to dense", [](Mat A, Mat, Numbers *n) { return Converted(A, MATMPIDENSE, n); }},
      {"MatCreateRedundantMatrix",
       [](Mat A, Mat, Numbers *n) {
         Mat       B;
         PetscReal norm;
         PetscFunctionBeginUser;
         PetscCall(MatCreateRedundantMatrix(A, PetscGlobalSize, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &B));
         PetscCall(MatNorm(B, NORM_1, &norm));
         n->push_back(norm);
         PetscCall(MatDestroy(&B));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"MatDuplicate",
       [](Mat A, Mat, Numbers *n) {
         Mat B;
         PetscFunctionBeginUser;
         PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
         PetscCall(EntriesAndDestroy(B, n));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"MatStoreValues",
       [](Mat A, Mat, Numbers *n) {
         PetscFunctionBeginUser;
         PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
         PetscCall(MatStoreValues(A));
         PetscCall(Multiply(A, n));
         PetscCall(MatScale(A, 5));
         PetscCall(MatRetrieveValues(A));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C = A B, or the like, twice: A and C are hidden between.
PetscErrorCode Product(Mat A, Mat B, MatProductType type, Numbers *numbers)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(A, B, nullptr, &C));
  PetscCall(MatProductSetType(C, type));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  for (int round = 0; round < 2; ++round) {
    PetscCall(MatProductNumeric(C));
    PetscCall(Multiply(C, numbers));
    PetscCall(Multiply(A, numbers));
    PetscCall(MatScale(A, 2));
    PetscCall(MatScale(C, 2));
  }
  PetscCall(EntriesAndDestroy(C, numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DenseProduct(Mat A, Mat, Numbers *numbers)
{
  Mat         B, C;
  PetscInt    m, n;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, 60, 3, nullptr, &B));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(MatSetRandom(B, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Multiply(A, numbers));
  PetscCall(MatScale(A, 2));
  PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Entries(C, numbers));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Maij(Mat A, Mat, Numbers *numbers)
{
  Mat M;

  PetscFunctionBeginUser;
  PetscCall(MatCreateMAIJ(A, 2, &M));
  PetscCall(Multiply(M, numbers));
  PetscCall(Multiply(A, numbers));
  PetscCall(MatScale(A, 2));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixProducts()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll({
      {"A B", [](Mat A, Mat B, Numbers *n) { return Product(A, B, MATPRODUCT_AB, n); }},
      {"A^T B", [](Mat A, Mat B, Numbers *n) { return Product(A, B, MATPRODUCT_AtB, n); }},
      {"P^T A P", [](Mat A, Mat B, Numbers *n) { return Product(A, B, MATPRODUCT_PtAP, n); }},
      {"of a dense matrix", DenseProduct},
      {"MatTranspose",
       [](Mat A, Mat, Numbers *n) {
         Mat B;
         PetscFunctionBeginUser;
         PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
         PetscCall(Multiply(B, n));
         PetscCall(Multiply(A, n));
         PetscCall(MatScale(A, 2));
         PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &B));
         PetscCall(EntriesAndDestroy(B, n));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each operation of PETSc's parallel type is another one while rows are away, but for those that ask operations of
/// the blocks, or read neither rows nor values.
PetscErrorCode Table()
{
  const std::set<size_t> safe = {
    offsetof(struct _MatOps, restorerow), // of what is home then
    offsetof(struct _MatOps, restorerowij),
    offsetof(struct _MatOps, getinfo), // ask the blocks
    offsetof(struct _MatOps, equal),
    offsetof(struct _MatOps, setoption),
    offsetof(struct _MatOps, setunfactored),
    offsetof(struct _MatOps, getdiagonalblock),
#if PETSC_VERSION_LT(3, 25, 0)
    offsetof(struct _MatOps, missingdiagonal),
#endif
#if PETSC_VERSION_GE(3, 19, 0)
    offsetof(struct _MatOps, getcurrentmemtype),
#endif
    offsetof(struct _MatOps, getghosts), // read neither
    offsetof(struct _MatOps, setblocksizes),
    offsetof(struct _MatOps, setup),                         // of a matrix that is not preallocated
    offsetof(struct _MatOps, creatempimatconcatenateseqmat), // of sequential ones
  };
  const struct _MatOps *parent;
  Mat                   A;
  bool                  cannot = false;

  PetscFunctionBeginUser;
  PetscCall(HideRowsIfAsked(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, WithValues(Coupled(), 0), MATMPIAIJSPARSEGPU, "auto", Layout::Even, &A));
  PetscCall(HideRows(&A));
  PetscCall(face::GetParentOps(true, &parent));
  PetscCall(CheckOperations(A, parent, safe));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// After this no values leave any more.
PetscErrorCode ArraysOfMaij()
{
  PetscFunctionBeginUser;
  PetscCall(CheckPair("MAIJ", Layout::Even, false, Maij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of the next rank get values: those are put in by assembly alone.
PetscErrorCode SetElsewhere(Mat A, InsertMode mode, Numbers *)
{
  const PetscInt rows[] = {0, 29, 59};

  PetscFunctionBeginUser;
  for (PetscInt row : rows)
    if (row % PetscGlobalSize == PetscGlobalRank) PetscCall(MatSetValue(A, row, 30, 0.25, mode));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the host writes to a part of the values.
PetscErrorCode Changes()
{
  PetscFunctionBeginUser;
  PetscCall(CheckAll({
      {"MatSetValues, INSERT", [](Mat A, Mat, Numbers *n) { return SetElsewhere(A, INSERT_VALUES, n); }},
      {"MatSetValues, ADD", [](Mat A, Mat, Numbers *n) { return SetElsewhere(A, ADD_VALUES, n); }},
      {"new nonzeros",
       [](Mat A, Mat, Numbers *) {
         PetscFunctionBeginUser;
         PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
         PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
         if (PetscGlobalRank == 0) PetscCall(MatSetValue(A, 10, 50, 3, ADD_VALUES)); // may be a ghost column anew
         PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
         PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"MatZeroRowsColumns",
       [](Mat A, Mat, Numbers *) {
         const PetscInt rows[] = {5, 31, 58};
         return MatZeroRowsColumns(A, PetscGlobalRank ? 0 : 3, rows, 7, nullptr, nullptr);
       }},
      {"MatZeroRows, pattern not kept",
       [](Mat A, Mat, Numbers *) {
         const PetscInt rows[] = {5, 31, 58};
         PetscFunctionBeginUser;
         PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
         PetscCall(MatZeroRows(A, PetscGlobalRank ? 0 : 3, rows, 7, nullptr, nullptr));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"an assembly of nothing",
       [](Mat A, Mat, Numbers *) {
         PetscFunctionBeginUser;
         PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
         PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"MatAXPY, SUBSET", [](Mat A, Mat other, Numbers *) { return MatAXPY(A, 2, other, SUBSET_NONZERO_PATTERN); }},
      {"MatAXPY, DIFFERENT",
       [](Mat A, Mat other, Numbers *) { return MatAXPY(A, 2, other, DIFFERENT_NONZERO_PATTERN); }},
      {"MatAXPY of plain aij",
       [](Mat A, Mat other, Numbers *) {
         PetscFunctionBeginUser;
         PetscCall(MatConvert(other, MATMPIAIJ, MAT_INPLACE_MATRIX, &other));
         PetscCall(MatAXPY(A, 2, other, DIFFERENT_NONZERO_PATTERN));
         PetscCall(MatAXPY(A, 2, other, SAME_NONZERO_PATTERN));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
      {"to plain aij",
       [](Mat A, Mat other, Numbers *) {
         PetscFunctionBeginUser;
         PetscCall(MatConvert(other, MATMPIAIJ, MAT_INPLACE_MATRIX, &other));
         PetscCall(MatCopy(A, other, SAME_NONZERO_PATTERN));
         PetscCall(MatAXPY(other, 2, A, SAME_NONZERO_PATTERN));
         PetscFunctionReturn(PETSC_SUCCESS);
       }},
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The solution, by a method that reads the values on the host.
PetscErrorCode Solve(Mat A, PCType type, MatSolverType package, Numbers *numbers)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  PetscInt           n;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, strcmp(type, PCLU) ? KSPGMRES : KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 4)); // the same number with both
  for (int round = 0; round < 2; ++round) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArrayRead(x, &array));
    numbers->insert(numbers->end(), array, array + n);
    PetscCall(VecRestoreArrayRead(x, &array));
    PetscCall(Multiply(A, numbers));
    PetscCall(MatScale(A, 2));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solvers()
{
  bool cannot = false;
  PetscFunctionBeginUser;
  PetscCall(HideRowsIfAsked(&cannot));
  if (cannot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckAll({
      {"jacobi", [](Mat A, Mat, Numbers *n) { return Solve(A, PCJACOBI, nullptr, n); }},
      {"bjacobi", [](Mat A, Mat, Numbers *n) { return Solve(A, PCBJACOBI, nullptr, n); }},
      {"asm", [](Mat A, Mat, Numbers *n) { return Solve(A, PCASM, nullptr, n); }},
      {"sor", [](Mat A, Mat, Numbers *n) { return Solve(A, PCSOR, nullptr, n); }},
  }));
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) // else the matrix of the redundant solve is parallel, too, and PETSc has no LU of its own for that
    PetscCall(CheckAll({{"redundant", [](Mat A, Mat, Numbers *n) { return Solve(A, PCREDUNDANT, nullptr, n); }}}));
#if defined(PETSC_HAVE_MUMPS)
  PetscCall(CheckPair("mumps", Layout::Even, false,
                      [](Mat A, Mat, Numbers *n) { return Solve(A, PCLU, MATSOLVERMUMPS, n); }));
#endif
#if defined(PETSC_HAVE_SUPERLU_DIST)
  PetscCall(CheckPair("superlu_dist", Layout::Even, false,
                      [](Mat A, Mat, Numbers *n) { return Solve(A, PCLU, MATSOLVERSUPERLU_DIST, n); }));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"rows", Rows},
               {"parts", Parts},
               {"products", MatrixProducts},
               {"changes", Changes},
               {"solvers", Solvers},
               {"maij", ArraysOfMaij},
               {"table", Table}});
}
