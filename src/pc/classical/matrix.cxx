/// The rows stay where they are, as a matrix of ours; on several processes those of a matrix of another type go through
/// the host.
#include "pc/classical/matrix.hpp"
#include "mat/face/fill_values.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_pattern.hpp"
#include "mat/face/pattern.hpp"
#include "pc/classical/operations.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::classical
{

namespace
{
/// P's values, where its pattern is.
PetscErrorCode SetValues(Mat P, Space space, const Array<Scalar> &values)
{
  PetscFunctionBegin;
  PetscCall(FillValues(P, space, [&](const PetscInt *, const PetscInt *, Scalar *p) {
    return CopyWithin(space, values.data(), values.size(), p);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M gets its type, that of A where A is ours, and block sizes.
PetscErrorCode Begin(Mat A, PetscInt columns, PetscInt row_block, PetscInt column_block, MatType type, Mat M)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(M, A->rmap->n, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(M, row_block, column_block));
  PetscCall(MatSetType(M, type));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq || mpi) PetscCall(InheritSettings(A, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeSequential(Space space, OwnedRows &&rows, Mat P)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(P, &context));
  context->read_here = true;
  PetscCall(TakePattern(P, std::move(rows.i), std::move(rows.j), space));
  PetscCall(SetValues(P, space, rows.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SetFromRows(Space space, const OwnedRows &rows, Mat P)
{
  BlocksMayLeave scope;
  Mat            parts[2];
  PetscCount     entries = 0;

  PetscFunctionBegin;
  PetscCall(scope.Begin(P));
  PetscCall(GetBlocks(P, parts));
  for (Mat part : parts) {
    Context *context;
    CsrView  csr;
    PetscCall(GetContext(part, &context));
    PetscCall(context->rows.GetShape(part, &csr));
    entries += csr.nonzeros;
  }
  PetscCheck(entries == static_cast<PetscCount>(rows.j.size()), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Values of %zu entries for a pattern of %lld", rows.j.size(), static_cast<long long>(entries));
  for (int b = 0; b < 2; b++)
    PetscCall(FillValues(parts[b], space, [&](const PetscInt *i, const PetscInt *, Scalar *a) {
      return ForEach(
          space, P->rmap->n,
          TakePart{rows.i.data(), rows.j.data(), rows.a.data(), P->cmap->rstart, P->cmap->rend, b == 0, i, a});
    }));
  PetscCall(scope.End());
  PetscCall(PetscObjectStateIncrease((PetscObject)P)); // the blocks' have grown
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Of our parallel type: rows stay in `space`.
PetscErrorCode TakeParallel(Space space, const OwnedRows &rows, Mat P)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  BlockPatterns  patterns;

  PetscFunctionBegin;
  PetscCall(PetscLayoutSetUp(P->rmap));
  PetscCall(PetscLayoutSetUp(P->cmap));
  PetscCall(
      OnAll(comm, [&] { return SplitPattern(space, rows.i, rows.j, P->cmap->rstart, P->cmap->rend, &patterns); }));
  PetscCall(TakePattern(P, std::move(patterns), space));
  PetscCall(OnAll(comm, [&] { return SetFromRows(space, rows, P); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of another parallel type.
PetscErrorCode TakeOnHost(const OwnedRows &rows, Mat P)
{
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;

  PetscFunctionBegin;
  PetscCall(OnAll(PetscObjectComm((PetscObject)P), [&] {
    PetscFunctionBegin;
    PetscCall(CopyToHost(rows.i, &i));
    PetscCall(CopyToHost(rows.j, &j));
    PetscCall(CopyToHost(rows.a, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(MatMPIAIJSetPreallocationCSR(P, i.data(), j.data(), reinterpret_cast<const PetscScalar *>(a.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CreateFromRows(Mat A, Space space, PetscInt columns, OwnedRows &&rows, Mat *P, PetscInt row_block,
                              PetscInt column_block)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt    size;
  PetscBool      seq, mpi;
  MatType        type;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetType(A, &type));
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCall(MatCreate(comm, P));
  PetscCall(Begin(A, columns, row_block, column_block, size == 1 ? MATSEQAIJSPARSEGPU : type, *P));
  if (size > 1) {
    PetscCall(mpi ? TakeParallel(space, rows, *P) : TakeOnHost(rows, *P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeSequential(space, std::move(rows), *P));
  if (!seq) PetscCall(MatConvert(*P, type, MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
