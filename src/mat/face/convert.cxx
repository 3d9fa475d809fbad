/// MatConvert() between ours and every other type, by way of plain AIJ.
#include "mat/face/context.hpp"

namespace sparsegpu::face
{

static PetscErrorCode PlainCopy(Mat A, Mat *B)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(IsOurs(*B, &seq, &mpi));
  if (seq || mpi) PetscCall(BecomeParent(*B, mpi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatOps::convert: from ours to any other type, through plain AIJ, which all converters know.
PetscErrorCode MatConvert_SparseGPU_Any(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  PetscBool seq, mpi, plain, root;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(PetscStrcmp(type, MATAIJ, &root));
  PetscCall(PetscStrcmp(type, mpi ? MATMPIAIJ : MATSEQAIJ, &plain));
  if (root) plain = PETSC_TRUE;
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(BecomeParent(A, mpi));
    if (!plain) PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, M));
  } else if (plain && reuse == MAT_INITIAL_MATRIX) {
    PetscCall(PlainCopy(A, M));
  } else if (plain) {
    PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
  } else {
    PetscCall(PlainCopy(A, &B));
    PetscCall(MatPropagateSymmetryOptions(A, B)); // sbaij asks for them
    PetscCall(MatConvert(B, type, reuse, M));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy of `A` of one of the aij types, row by row, for types that nothing else converts.
static PetscErrorCode CopyRows(Mat A, MatType type, Mat *B)
{
  PetscInt              begin, end, first_col, end_col, m, n, M, N, count;
  const PetscInt       *cols;
  const PetscScalar    *values;
  std::vector<PetscInt> diagonal, off;

  PetscFunctionBegin;
  PetscCheck(A->ops->getrow, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "No conversion from %s to %s: it has no rows to get", ((PetscObject)A)->type_name, MATAIJ);
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetOwnershipRangeColumn(A, &first_col, &end_col));
  PetscCallCXX(diagonal.assign(m, 0));
  PetscCallCXX(off.assign(m, 0));
  for (PetscInt r = begin; r < end; r++) {
    PetscCall(MatGetRow(A, r, &count, &cols, nullptr));
    for (PetscInt k = 0; k < count; k++)
      (cols[k] >= first_col && cols[k] < end_col ? diagonal : off)[static_cast<size_t>(r - begin)]++;
    PetscCall(MatRestoreRow(A, r, &count, &cols, nullptr));
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetBlockSizesFromMats(*B, A, A));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, diagonal.data()));
  PetscCall(MatMPIAIJSetPreallocation(*B, 0, diagonal.data(), 0, off.data()));
  for (PetscInt r = begin; r < end; r++) {
    PetscCall(MatGetRow(A, r, &count, &cols, &values));
    PetscCall(MatSetValues(*B, 1, &r, count, cols, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, r, &count, &cols, &values));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatConvert() to aij. Under -mat_seqaij_type a matrix made as aij is one of ours, so that PETSc, looking for a way to
/// make one, comes back to us for the same matrix: only A's own conversion, or one row by row, is left then.
static PetscErrorCode ToAIJ(Mat A, MatReuse reuse, Mat *B)
{
  static Mat     converting = nullptr;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (converting == A) {
    Mat C;
    if (A->ops->convert) { // what MatConvert() would try next
      PetscCall((*A->ops->convert)(A, MATAIJ, reuse, B));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(CopyRows(A, MATAIJ, &C));
    if (reuse == MAT_INPLACE_MATRIX)
      PetscCall(MatHeaderReplace(A, &C));
    else
      *B = C;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Mat outer = converting;
  converting      = A;
  ierr            = MatConvert(A, MATAIJ, reuse, B);
  converting      = outer;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Does `type` name the kind, sequential or parallel, that A is not? On one process both will do.
static PetscErrorCode IsOtherKind(Mat A, MatType type, bool *other)
{
  PetscBool seq, mpi, parallel;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATSEQAIJSPARSEGPU, &seq));
  PetscCall(PetscStrcmp(type, MATMPIAIJSPARSEGPU, &mpi));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &parallel, MATMPIAIJ, MATMPIAIJSPARSEGPU, ""));
  *other = parallel ? seq : mpi;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatConvert() of an aij matrix on one process from the sequential to the parallel type, or back.
static PetscErrorCode ToOtherKind(Mat A, bool parallel, MatReuse reuse, Mat *M)
{
  PetscBool seq, mpi;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(CopyRows(A, parallel ? MATMPIAIJ : MATSEQAIJ, &B));
  PetscCall(BecomeOurs(B, parallel));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq || mpi) PetscCall(InheritSettings(A, B));
  if (reuse == MAT_INPLACE_MATRIX)
    PetscCall(MatHeaderReplace(A, &B));
  else
    *M = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatOps::convertfrom: from any type to ours, through plain AIJ.
PetscErrorCode MatConvert_Any_SparseGPU(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  PetscBool seq, mpi, aij;
  bool      other = false;
  Mat       B     = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, MATSEQAIJSPARSEGPU,
                                      MATMPIAIJSPARSEGPU, ""));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(IsOurs(*M, &seq, &mpi));
    PetscCheck(seq || mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
               "MAT_REUSE_MATRIX needs a matrix of type %s to reuse, not %s", type, ((PetscObject)*M)->type_name);
    if (!aij) PetscCall(ToAIJ(A, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCopy(B ? B : A, *M, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (aij) PetscCall(IsOtherKind(A, type, &other));
  if (other) {
    PetscCall(PetscStrcmp(type, MATMPIAIJSPARSEGPU, &mpi));
    PetscCall(ToOtherKind(A, mpi, reuse, M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) {
    if (aij)
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    else
      PetscCall(ToAIJ(A, MAT_INITIAL_MATRIX, &B));
  } else {
    B = A;
    if (!aij) PetscCall(ToAIJ(A, MAT_INPLACE_MATRIX, &B));
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATMPIAIJ, &mpi));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQAIJ, &seq));
  PetscCheck(seq || mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "No conversion from %s to %s",
             ((PetscObject)A)->type_name, type);
  PetscCall(BecomeOurs(B, mpi));
  *M = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
