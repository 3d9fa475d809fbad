/// On one process the rows stay where they are, as a matrix of ours; on several they go through the host, which numbers
/// the ghosts.
#include "pc/classical/matrix.hpp"
#include <algorithm>
#include "mat/face/fill_values.hpp"
#include "mat/face/parallel_pattern.hpp"
#include "mat/face/pattern.hpp"
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
    Stream stream;

    PetscFunctionBegin;
    if (space == Space::Host) {
      std::copy(values.data(), values.data() + values.size(), p);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyWithin(p, values.data(), values.bytes(), stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSequential(Mat A, Space space, PetscInt columns, OwnedRows &&rows, Mat *P)
{
  PetscBool seq, mpi;
  MatType   type;
  Context  *context;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, A->rmap->n, columns, A->rmap->n, columns));
  PetscCall(MatSetType(*P, MATSEQAIJSPARSEGPU));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (seq) PetscCall(InheritSettings(A, *P));
  PetscCall(GetContext(*P, &context));
  context->read_here = true;
  PetscCall(TakePattern(*P, std::move(rows.i), std::move(rows.j), space));
  PetscCall(SetValues(*P, space, rows.a));
  PetscCall(MatGetType(A, &type));
  if (!seq) PetscCall(MatConvert(*P, type, MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateParallel(Mat A, Space space, PetscInt columns, const OwnedRows &rows, Mat *P)
{
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a;
  PetscBool             seq, mpi;
  MatType               type;

  PetscFunctionBegin;
  PetscCall(OnAll(PetscObjectComm((PetscObject)A), [&] {
    PetscFunctionBegin;
    PetscCall(CopyToHost(rows.i, space, &i));
    PetscCall(CopyToHost(rows.j, space, &j));
    PetscCall(CopyToHost(rows.a, space, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), P));
  PetscCall(MatSetSizes(*P, A->rmap->n, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*P, type));
  PetscCall(IsOurs(A, &seq, &mpi));
  if (mpi) PetscCall(InheritSettings(A, *P));
  PetscCall(MatMPIAIJSetPreallocationCSR(*P, i.data(), j.data(), reinterpret_cast<const PetscScalar *>(a.data())));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode CreateInterpolation(Mat A, Space space, PetscInt columns, OwnedRows &&rows, Mat *P)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size == 1)
    PetscCall(CreateSequential(A, space, columns, std::move(rows), P));
  else
    PetscCall(CreateParallel(A, space, columns, rows, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
