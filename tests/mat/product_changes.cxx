static const char help[] =
    "Products of sparse matrices of ours whose operands, results or surroundings change between symbolic and numeric\n"
    "phases: everything must stay as with plain AIJ.\n\n";

#include <algorithm>
#include "same_entries.hpp"

using namespace testing;

/// Tridiagonal, 2 on the diagonal, 1 above and `below` below it, and `extra` at (0, n - 1) unless that is zero; with
/// room for more entries.
static PetscErrorCode Create(MatType type, PetscScalar below, PetscScalar extra, Mat *A)
{
  const PetscInt n = 8;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetBlockSize(*A, 2));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 4, nullptr));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(MatSetValue(*A, i, i, 2, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, below, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(*A, i, i + 1, 1, INSERT_VALUES));
  }
  if (extra != 0.0) PetscCall(MatSetValue(*A, 0, n - 1, extra, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A product with a vector, after which the values may leave the host.
static PetscErrorCode Multiply(Mat A)
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
/// Values are sums of a few small integers, so exact. Stored zeros do not count: a product of PETSc's that has to be
/// set up again drops what others have put in.
static PetscErrorCode CheckSame(Mat ours, Mat aij, const char *what)
{
  Problem a, b;

  PetscFunctionBeginUser;
  PetscCall(Gather(ours, &a));
  PetscCall(Gather(aij, &b));
  for (Problem *p : {&a, &b})
    p->entries.erase(
        std::remove_if(p->entries.begin(), p->entries.end(), [](const conformance::Entry &e) { return e.v == 0.0; }),
        p->entries.end());
  PetscCall(CheckSameEntries(a, b, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs `play` with ours and with plain AIJ and compares the matrices that it leaves.
template <class Play> static PetscErrorCode Both(const char *what, Play play)
{
  Mat left[2] = {nullptr, nullptr};

  PetscFunctionBeginUser;
  PetscCall(play(MATSEQAIJSPARSEGPU, &left[0]));
  PetscCall(play(MATSEQAIJ, &left[1]));
  PetscCall(CheckSame(left[0], left[1], what));
  for (Mat &A : left) PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A result that has got entries is computed again: by MatAXPY(), which gives it other insides, and by MatSetValue().
static PetscErrorCode Result()
{
  PetscFunctionBeginUser;
  for (bool insides : {false, true})
    PetscCall(Both("a result with more entries", [insides](MatType type, Mat *C) -> PetscErrorCode {
      Mat A, B, more;
      PetscFunctionBeginUser;
      PetscCall(Create(type, 1, 0, &A));
      PetscCall(Create(type, 3, 0, &B));
      PetscCall(Create(type, 1, 5, &more));
      PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
      if (insides)
        PetscCall(MatAXPY(*C, 1, more, DIFFERENT_NONZERO_PATTERN));
      else
        PetscCall(MatSetValue(*C, 0, 7, 5, INSERT_VALUES)); // products take new entries
      PetscCall(MatAssemblyBegin(*C, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(*C, MAT_FINAL_ASSEMBLY));
      PetscCall(Multiply(*C));
      PetscCall(MatScale(A, 3));
      PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C));
      for (Mat *M : {&A, &B, &more}) PetscCall(MatDestroy(M));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Operands are replaced, converted and bound to the CPU.
static PetscErrorCode Operands()
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; ++kind)
    PetscCall(Both("operands that changed", [kind](MatType type, Mat *C) -> PetscErrorCode {
      Mat A, B, other;
      PetscFunctionBeginUser;
      PetscCall(Create(type, 1, 0, &A));
      PetscCall(Create(kind == 3 ? MATSEQAIJ : type, 3, 0, &B)); // 3: a product of PETSc's
      PetscCall(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
      PetscCall(Create(type, 4, 0, &other));
      PetscCall(Multiply(other));
      PetscCall(MatScale(other, 2)); // its values may be elsewhere now
      if (kind == 1) PetscCall(MatConvert(other, MATSEQAIJ, MAT_INPLACE_MATRIX, &other));
#if defined(PETSC_HAVE_DEVICE)
      if (kind == 2) PetscCall(MatBindToCPU(other, PETSC_TRUE));
#endif
      PetscCall(MatPtAP(other, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C));
      PetscCall(Multiply(*C));
      PetscCall(MatScale(other, 2));
      PetscCall(MatPtAP(other, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C));
      for (Mat *M : {&A, &B, &other}) PetscCall(MatDestroy(M));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result of a product of ours is an operand of one of PETSc's, and is computed again.
static PetscErrorCode Chain()
{
  PetscFunctionBeginUser;
  PetscCall(Both("a result that PETSc's product reads", [](MatType type, Mat *E) -> PetscErrorCode {
    Mat A, B, P, C;
    PetscFunctionBeginUser;
    PetscCall(Create(type, 1, 0, &A));
    PetscCall(Create(type, 3, 0, &B));
    PetscCall(Create(MATSEQAIJ, 2, 0, &P));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatPtAP(C, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, E));
    PetscCall(MatProductClear(C));
    PetscCall(MatProductCreateWithMat(A, B, nullptr, C));
    PetscCall(MatProductSetType(C, MATPRODUCT_AB));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(Multiply(C));
    PetscCall(MatScale(C, 3));
    PetscCall(MatPtAP(C, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, E));
    for (Mat *M : {&A, &B, &P, &C}) PetscCall(MatDestroy(M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc knows of the result: symmetry is forgotten with new values, block sizes are the operands'.
static PetscErrorCode Known()
{
  PetscBool symmetric[2][2];
  PetscInt  rows[2], cols[2];

  PetscFunctionBeginUser;
  for (int k : {0, 1}) {
    Mat A, B, C;
    PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJSPARSEGPU, 1, 0, &A));
    PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJSPARSEGPU, 1, 0, &B));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatGetBlockSizes(C, &rows[k], &cols[k]));
    PetscCall(MatIsSymmetric(C, 0, &symmetric[k][0]));
    PetscCall(MatSetValue(A, 3, 2, 7, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatIsSymmetric(C, 0, &symmetric[k][1]));
    for (Mat *M : {&A, &B, &C}) PetscCall(MatDestroy(M));
  }
  PetscCheck(rows[0] == 2 && cols[0] == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Block sizes %" PetscInt_FMT " and %" PetscInt_FMT ", not 2", rows[0], cols[0]);
  PetscCheck(symmetric[0][0] && symmetric[1][0] && !symmetric[0][1] && !symmetric[1][1], PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "Symmetric first %d, aij %d; with other values %d, aij %d", symmetric[0][0],
             symmetric[1][0], symmetric[0][1], symmetric[1][1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// SUBSET_NONZERO_PATTERN of a pattern that is none: PETSc puts the entry in. And symmetry is forgotten.
static PetscErrorCode Subset()
{
  PetscFunctionBeginUser;
  for (PetscScalar extra : {0.0, 5.0})
    PetscCall(Both("MatAXPY of a subset", [extra](MatType type, Mat *Y) -> PetscErrorCode {
      Mat       X;
      PetscBool symmetric;
      PetscFunctionBeginUser;
      PetscCall(Create(type, 3, extra, &X));
      PetscCall(Create(type, 1, 0, Y));
      PetscCall(MatIsSymmetric(*Y, 0, &symmetric));
      PetscCall(Multiply(*Y));
      PetscCall(MatScale(*Y, 2));
      PetscCall(MatAXPY(*Y, 4, X, SUBSET_NONZERO_PATTERN));
      PetscCall(MatIsSymmetric(*Y, 0, &symmetric));
      PetscCheck(!symmetric, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is said to be symmetric still", type);
      PetscCall(MatDestroy(&X));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From MatCreateMAIJ() on no values leave the host. The last test of a process, as that stays so.
static PetscErrorCode Maij()
{
  PetscFunctionBeginUser;
  PetscCall(Both("products beside a MAIJ", [](MatType type, Mat *C) -> PetscErrorCode {
    Mat A, B, maij;
    PetscFunctionBeginUser;
    PetscCall(Create(type, 1, 0, &A));
    PetscCall(Create(type, 3, 0, &B));
    PetscCall(MatCreateMAIJ(A, 2, &maij));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
    for (Mat *M : {&A, &B, &maij}) PetscCall(MatDestroy(M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"result", Result},
               {"operands", Operands},
               {"chain", Chain},
               {"known", Known},
               {"subset", Subset},
               {"maij", Maij}});
}
