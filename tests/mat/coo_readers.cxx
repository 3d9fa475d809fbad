static const char help[] = "All operations that read a matrix see the values of MatSetValuesCOO().\n\
  -device : they are in device memory\n\n";

#include "coo.hpp"

using namespace testing;

// The readers: each compares A with an aij matrix that has the same values.

static PetscErrorCode ReadRows(Mat A, Mat aij)
{
  Problem a, b;

  PetscFunctionBeginUser;
  PetscCall(Gather(A, &a));
  PetscCall(Gather(aij, &b));
  PetscCheck(a.entries.size() == b.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu entries, not %zu",
             a.entries.size(), b.entries.size());
  for (size_t k = 0; k < a.entries.size(); ++k)
    PetscCheck(a.entries[k].i == b.entries[k].i && a.entries[k].j == b.entries[k].j && a.entries[k].v == b.entries[k].v,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %zu is another", k);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadView(Mat A, Mat aij)
{
  const char *const where = OnDevice() ? "device" : "host";
  std::string       text[2];

  PetscFunctionBeginUser;
  for (Mat M : {A, aij}) PetscCall(PetscObjectSetName((PetscObject)M, "matrix"));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_MATLAB, std::string("coo_ours_") + where, &text[0])); // all digits
  PetscCall(ViewText(aij, PETSC_VIEWER_ASCII_MATLAB, std::string("coo_aij_") + where, &text[1]));
  PetscCheck(AsAIJ(text[0]) == text[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatView() of aij gives\n%s\nof ours\n%s",
             text[1].c_str(), text[0].c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadArray(Mat A, Mat aij)
{
  Mat                blocks[2];
  MatInfo            info;
  const PetscScalar *a[2];
  PetscBool          parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  for (bool off : {false, true}) {
    Mat off_blocks[2];
    if (off && !parallel) break;
    for (int which = 0; which < 2; ++which) {
      blocks[which] = which ? aij : A;
      if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(which ? aij : A, &blocks[which], &off_blocks[which], nullptr));
      if (off) blocks[which] = off_blocks[which];
      PetscCall(MatSeqAIJGetArrayRead(blocks[which], &a[which]));
    }
    PetscCall(MatGetInfo(blocks[1], MAT_LOCAL, &info));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; ++k)
      PetscCheck(a[0][k] == a[1][k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Value %" PetscInt_FMT " of a block is another",
                 k);
    for (int which = 0; which < 2; ++which) PetscCall(MatSeqAIJRestoreArrayRead(blocks[which], &a[which]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadILU(Mat A, Mat aij)
{
  const Option theirs("-sub_pc_factor_mat_solver_type", MATSOLVERPETSC); // on a GPU ours would be the default
  Vec          b, x[2];
  PetscBool    same;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(aij, &b, nullptr));
  PetscCall(VecSet(b, 1));
  for (int which = 0; which < 2; ++which) {
    PC pc;
    PetscCall(VecDuplicate(b, &x[which]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCBJACOBI)); // ILU(0) of each diagonal block
    PetscCall(PCSetOperators(pc, which ? aij : A, which ? aij : A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCApply(pc, b, x[which]));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecEqual(x[0], x[1], &same)); // PETSc's own host code on the same numbers
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ILU solves with other numbers than aij's");
  PetscCall(VecDestroy(&b));
  for (Vec &v : x) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadNorms(Mat A, Mat aij)
{
  PetscReal a, b;

  PetscFunctionBeginUser;
  for (NormType type : {NORM_1, NORM_FROBENIUS, NORM_INFINITY}) {
    PetscCall(MatNorm(A, type, &a));
    PetscCall(MatNorm(aij, type, &b));
    PetscCheck(PetscAbsReal(a - b) <= 100 * PETSC_MACHINE_EPSILON * b, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Norm %d is %g, not %g", (int)type, (double)a, (double)b);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadDuplicate(Mat A, Mat aij)
{
  Mat     B;
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(CheckIsOurs(B, "Duplicate"));
  PetscCall(ReadRows(B, aij));
  PetscCall(Gather(aij, &p));
  PetscCall(CheckProducts(B, p, "Duplicate"));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadDiagonal(Mat A, Mat aij)
{
  Vec       a, b;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &a));
  PetscCall(VecDuplicate(a, &b));
  PetscCall(MatGetDiagonal(A, a));
  PetscCall(MatGetDiagonal(aij, b));
  PetscCall(VecEqual(a, b, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The diagonal is another");
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ReadTranspose(Mat A, Mat aij)
{
  Mat at, bt;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &at));
  PetscCall(MatTranspose(aij, MAT_INITIAL_MATRIX, &bt));
  PetscCall(ReadRows(at, bt));
  PetscCall(MatDestroy(&at));
  PetscCall(MatDestroy(&bt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A change of what was set, in place: it must start from the new values.
static PetscErrorCode ReadWrite(Mat A, Mat aij)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 2));
  PetscCall(MatShift(A, 1));
  PetscCall(MatScale(aij, 2));
  PetscCall(MatShift(aij, 1));
  PetscCall(ReadRows(A, aij));
  PetscCall(Gather(aij, &p));
  PetscCall(CheckProducts(A, p, "scaled and shifted"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each reader is the first to look at values just set, once with products before and once without.
template <PetscErrorCode (*Read)(Mat, Mat)> static PetscErrorCode Reader()
{
  Mat     A, aij;
  Problem p;
  bool    none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  for (bool product_before : {false, true}) {
    PetscCall(CreatePattern(MATSPARSEGPU, nullptr, &A));
    PetscCall(CreatePattern(MATAIJ, nullptr, &aij));
    PetscCall(SetValues(A, 3, INSERT_VALUES, OnDevice(), &p));
    if (product_before) PetscCall(CheckProducts(A, p, "before the reader"));
    PetscCall(SetValues(A, 4, INSERT_VALUES, OnDevice(), &p));
    PetscCall(SetValues(aij, 4, INSERT_VALUES, false, &p));
    PetscCall(Read(A, aij));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&aij));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"rows", Reader<ReadRows>},
               {"view", Reader<ReadView>},
               {"array", Reader<ReadArray>},
               {"ilu", Reader<ReadILU>},
               {"norms", Reader<ReadNorms>},
               {"duplicate", Reader<ReadDuplicate>},
               {"diagonal", Reader<ReadDiagonal>},
               {"transpose", Reader<ReadTranspose>},
               {"write", Reader<ReadWrite>}});
}
