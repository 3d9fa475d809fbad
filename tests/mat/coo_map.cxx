static const char help[] =
    "MatSetValuesCOO() keeps working after the preallocated matrix is duplicated, converted or replaced.\n\n";

#include "coo.hpp"

#include <algorithm>

using namespace testing;

namespace
{
/// Is a sequential matrix of ours preallocated where it lives, and not by PETSc?
PetscErrorCode ByMap(bool *by_map)
{
  PetscBool away = PETSC_FALSE, device = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &away, nullptr));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(SparseGPUHasDevice(&device));
#endif
  *by_map = away || device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `what` of A has the pattern and, to a rounding of sums of two, the values of B.
PetscErrorCode CheckSame(Mat A, Mat B, const std::string &what)
{
  Problem a, b;

  PetscFunctionBeginUser;
  PetscCall(Gather(A, &a));
  PetscCall(Gather(B, &b));
  PetscCheck(a.entries.size() == b.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu entries, not %zu",
             what.c_str(), a.entries.size(), b.entries.size());
  for (size_t k = 0; k < a.entries.size(); ++k) {
    const conformance::Entry &x = a.entries[k], &y = b.entries[k];
    PetscCheck(x.i == y.i && x.j == y.j && x.v == y.v, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry %zu is (%" PetscInt_FMT ", %" PetscInt_FMT ") of %g, not (%" PetscInt_FMT ", %" PetscInt_FMT
               ") of %g",
               what.c_str(), k, x.i, x.j, (double)PetscRealPart(x.v), y.i, y.j, (double)PetscRealPart(y.v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The model's entries, backwards after an odd number of preallocations: another map to the same pattern.
bool backwards = false;
Coo  Given(PetscInt round)
{
  Coo coo;

  (void)Model(round, &coo);
  if (!backwards) return coo;
  std::reverse(coo.i.begin(), coo.i.end());
  std::reverse(coo.j.begin(), coo.j.end());
  std::reverse(coo.v.begin(), coo.v.end());
  return coo;
}

/// The same values to A and to a plain aij matrix.
PetscErrorCode SetBoth(Mat A, Mat aij, PetscInt round, InsertMode mode, const std::string &what)
{
  PetscFunctionBeginUser;
  for (Mat M : {A, aij}) PetscCall(MatSetValuesCOO(M, Given(round).v.data(), mode));
  PetscCall(CheckSame(A, aij, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode SetOften(Mat A, Mat aij, const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCall(SetBoth(A, aij, 1, INSERT_VALUES, what + ", inserted"));
  PetscCall(SetBoth(A, aij, 1, ADD_VALUES, what + ", the same added")); // exactly twice, in any order
  PetscCall(SetBoth(A, aij, 3, INSERT_VALUES, what + ", others inserted"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Multiply(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Preallocate(Mat A, Mat aij)
{
  PetscFunctionBeginUser;
  backwards = !backwards;
  for (Mat M : {A, aij}) {
    Coo coo = Given(0);
    PetscCall(MatSetPreallocationCOO(M, (PetscCount)coo.i.size(), coo.i.data(), coo.j.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs `test` of a matrix of ours and of a plain one, both preallocated.
template <PetscErrorCode (*test)(Mat *, Mat)> PetscErrorCode OfBoth()
{
  Mat A, aij;

  PetscFunctionBeginUser;
  backwards = false;
  PetscCall(CreatePattern(MATSPARSEGPU, nullptr, &A));
  PetscCall(CreatePattern(MATAIJ, nullptr, &aij));
  PetscCall((*test)(&A, aij));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values from the host, and a second preallocation, before and after products and other changes of values.
PetscErrorCode Again(Mat *A, Mat aij)
{
  PetscFunctionBeginUser;
  for (int round = 0; round < 2; ++round) {
    PetscCall(SetOften(*A, aij, "at first"));
    PetscCall(Multiply(*A));
    PetscCall(SetOften(*A, aij, "after a product"));
    PetscCall(MatScale(*A, 2));
    PetscCall(MatScale(aij, 2));
    PetscCall(SetBoth(*A, aij, 3, ADD_VALUES, "added to scaled values")); // 2 v + v of one value each: one rounding
    PetscCall(Multiply(*A));
    PetscCall(Preallocate(*A, aij));
  }
  PetscCall(SetBoth(*A, aij, 2, ADD_VALUES, "added to zeros"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// There and back: plain aij, preallocated again or not, and one of ours again.
PetscErrorCode Plain(Mat *A, Mat aij)
{
  PetscFunctionBeginUser;
  PetscCall(SetBoth(*A, aij, 0, INSERT_VALUES, "ours"));
  PetscCall(Multiply(*A));
  PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(CheckSame(*A, aij, "plain"));
  PetscCall(SetOften(*A, aij, "plain"));
  PetscCall(MatConvert(*A, MATSPARSEGPU, MAT_INPLACE_MATRIX, A));
  PetscCall(SetOften(*A, aij, "ours again"));
  PetscCall(Multiply(*A));
  PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(Preallocate(*A, aij));
  PetscCall(SetOften(*A, aij, "plain, preallocated anew"));
  PetscCall(MatConvert(*A, MATSPARSEGPU, MAT_INPLACE_MATRIX, A));
  PetscCall(SetOften(*A, aij, "ours, preallocated while plain"));
  PetscCall(Preallocate(*A, aij));
  PetscCall(SetOften(*A, aij, "ours, preallocated anew"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Duplicates and plain copies take values, too, and leave the original as it is.
PetscErrorCode Copies(Mat *A, Mat aij)
{
  Mat  B, C, D;
  bool by_map = false;

  PetscFunctionBeginUser;
  PetscCall(ByMap(&by_map));
  if (!by_map && PETSC_VERSION_LT(3, 20, 0)) {
    PetscCall(Skip("this PETSc's duplicates take no values by coordinates"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SetBoth(*A, aij, 0, INSERT_VALUES, "original"));
  PetscCall(MatConvert(aij, MATSAME, MAT_INITIAL_MATRIX, &D));
  PetscCall(Multiply(*A));
  PetscCall(MatDuplicate(*A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatConvert(*A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(SetOften(B, aij, "duplicate"));
  PetscCall(Multiply(B));
  PetscCall(SetOften(C, aij, "plain copy"));
  PetscCall(CheckSame(*A, D, "the original after its copies"));
  PetscCall(MatDestroy(A)); // the map outlives it
  PetscCall(SetOften(B, aij, "duplicate of what is no more"));
  for (Mat *M : {&B, &C, &D}) PetscCall(MatDestroy(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An empty matrix of the model's size, and the model's coordinates.
PetscErrorCode Create(const char type[], Coo *coo, Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  *coo = Coo();
  *p   = Model(0, coo);
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p->rows, p->cols, p->rows, p->cols));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What MatSetOption() has said holds for the first values, and new places are refused afterwards, as with aij.
PetscErrorCode OptionsHold()
{
  PetscFunctionBeginUser;
  for (const char *type : {MATAIJ, MATSPARSEGPU}) {
    std::string message;
    Problem     p;
    Coo         coo;
    PetscBool   known, symmetric;
    Mat         A;

    PetscCall(Create(type, &coo, &p, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetPreallocationCOO(A, (PetscCount)coo.i.size(), coo.i.data(), coo.j.data()));
    PetscCall(MatSetValuesCOO(A, coo.v.data(), INSERT_VALUES));
    PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
    PetscCheck(known && symmetric, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: MAT_SYMMETRIC is forgotten", type);
    PetscCall(ExpectError(
        "a new place", [&] { return MatSetValue(A, 0, p.cols - 1, 1, INSERT_VALUES); }, &message,
        PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText("the error", message, {"Inserting a new nonzero"}));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Coordinates beyond the matrix: the errors of aij, word by word, which older versions of PETSc do not raise.
PetscErrorCode Beyond()
{
  std::vector<const char *> types;
  bool                      by_map = false;

  PetscFunctionBeginUser;
  PetscCall(ByMap(&by_map));
  if (PETSC_VERSION_GE(3, 24, 0)) types.push_back(MATAIJ);
  if (PETSC_VERSION_GE(3, 24, 0) || by_map) types.push_back(MATSPARSEGPU);
  if (types.empty()) PetscCall(Skip("this PETSc, which has the coordinates, does not check them"));
  for (bool column : {false, true})
    for (const char *type : types) {
      const std::string words = column ? "COO column index 1000 is >= the matrix column size 117"
                                       : "COO row index 1000 is >= the matrix row size 117";
      std::string       message;
      Problem           p;
      Coo               coo;
      Mat               A;

      PetscCall(Create(type, &coo, &p, &A));
      (column ? coo.j : coo.i)[0] = 1000; // of an entry that is not ignored
      PetscCall(ExpectError(
          type, [&] { return MatSetPreallocationCOO(A, (PetscCount)coo.i.size(), coo.i.data(), coo.j.data()); },
          &message, PETSC_ERR_ARG_OUTOFRANGE));
      PetscCall(CheckText(type, message, {words}));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of the pattern that B has, of values 1, are written to A; the first row's last column moves to the last one
/// where `other`.
PetscErrorCode WriteRows(Mat A, Mat B, bool other)
{
  Problem                  p;
  std::vector<PetscInt>    i(1, 0), j;
  std::vector<PetscScalar> v;

  PetscFunctionBeginUser;
  PetscCall(Gather(B, &p));
  for (size_t k = 0; k < p.entries.size(); ++k) {
    const bool end = k + 1 == p.entries.size() || p.entries[k + 1].i != p.entries[k].i;
    j.push_back(end && other && i.size() == 1 ? p.cols - 1 : p.entries[k].j);
    v.push_back(1);
    if (end) i.push_back((PetscInt)k + 1); // no row is empty
  }
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i.data(), j.data(), v.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a pattern that has changed, a clear error and not a wrong sum; the same pattern, written again, is no change.
PetscErrorCode Changed(Mat *A, Mat aij)
{
  bool by_map = false;

  PetscFunctionBeginUser;
  PetscCall(ByMap(&by_map));
  if (!by_map) {
    PetscCall(Skip("PETSc has the coordinates"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SetBoth(*A, aij, 0, INSERT_VALUES, "at first"));
  PetscCall(MatSetValuesCOO(*A, nullptr, INSERT_VALUES)); // "can be NULL"
  PetscCall(MatSetValuesCOO(*A, nullptr, ADD_VALUES));
  PetscCall(MatZeroEntries(aij));
  PetscCall(CheckSame(*A, aij, "no values"));
  PetscCall(WriteRows(*A, aij, false));
  PetscCall(SetOften(*A, aij, "rows written as they were"));
  PetscCall(WriteRows(*A, aij, true)); // as many nonzeros
  for (const char *type : {MATSPARSEGPU, MATAIJ}) {
    std::string message;
    PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
    PetscCall(ExpectError(
        type, [&] { return MatSetValuesCOO(*A, Given(0).v.data(), INSERT_VALUES); }, &message,
        PETSC_ERR_ARG_WRONGSTATE));
    PetscCall(CheckText(type, message, {"is not that of MatSetPreallocationCOO()"}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"again", OfBoth<Again>},
               {"plain", OfBoth<Plain>},
               {"copies", OfBoth<Copies>},
               {"options", OptionsHold},
               {"beyond", Beyond},
               {"changed", OfBoth<Changed>}});
}
