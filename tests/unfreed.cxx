static const char help[] =
    "Makes, uses and destroys our matrices in all ways, several times, for valgrind to check.\n\n";

#include "family.hpp"

using namespace testing;

/// Symbolic and numeric, of the process's own rows.
static PetscErrorCode FactorsOfPetsc(Mat B)
{
  Mat           mine, F;
  IS            rows, columns;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(B, &mine));
  PetscCall(MatGetFactor(mine, MATSOLVERPETSC, MAT_FACTOR_LU, &F));
  PetscCall(MatGetOrdering(mine, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatLUFactorSymbolic(F, mine, rows, columns, &info));
  PetscCall(MatLUFactorNumeric(F, mine, &info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OneRound(const char *format)
{
  const Problem p = conformance::Grid("grid_5x4", 5, 4, false);
  Mat           A, B, C;
  Vec           x, y, d;
  PetscInt      i[] = {0, 3, 19, -1, 3}, j[] = {1, 3, 0, 2, 3};
  PetscScalar   v[] = {1, 2, 3, 4, 5};

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, Layout::Even, &A));
  PetscCall(CheckProducts(A, p, format));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatAXPY(B, 2, A, SAME_NONZERO_PATTERN));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(B, x, y));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(MatDiagonalScale(B, d, nullptr));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMult(C, x, y));
  PetscCall(MatDestroy(&C));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMult(C, x, y));
  PetscCall(MatDestroy(&C));
  PetscCall(MatAXPY(A, 1, B, DIFFERENT_NONZERO_PATTERN)); // a header merge inside PETSc
  PetscCall(MatMult(A, x, y));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatConvert(C, MATSPARSEGPU, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatMult(C, x, y));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscCall(FactorsOfPetsc(B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 20, 20));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSparseGPUSetFormat(A, format));
  PetscCall(MatSetPreallocationCOO(A, PetscGlobalRank ? 0 : 5, i, j));
  for (InsertMode mode : {INSERT_VALUES, ADD_VALUES}) {
    PetscCall(MatSetValuesCOO(A, v, mode));
    PetscCall(MatMult(A, x, y));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A)); // never assembled, never used
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lost()
{
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  for (int times = 0; times < 2; ++times)
    for (const std::string &format : formats) PetscCall(OneRound(format.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"lost", Lost}});
}
