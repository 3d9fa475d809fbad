/// Rows of our matrices from what they keep in that space, of others by a copy.
#include "pc/aggregate/source.hpp"
#include <petsc/private/matimpl.h>
#include "mat/face/context.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/factor/rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::aggregate
{

PetscErrorCode Source::Take(Mat A, Space space)
{
  PetscBool          seq, mpi;
  factor::MatrixRows other;

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  PetscCheck(!mpi, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "Rows of type %s: must be of a sequential AIJ type",
             ((PetscObject)A)->type_name);
  if (seq && space == Space::Device) {
    CsrView         csr;
    Context        *context;
    const PetscInt *i, *j;
    Scalar         *a;
    PetscCall(GetContext(A, &context));
    context->read_here = true;
    PetscCall(context->rows.GetShape(A, &csr));
    PetscCall(context->rows.BringPattern(A, space, &i, &j));
    PetscCall(context->rows.BringValues(A, space, &a));
    rows = SparseRows{csr.rows, csr.cols, csr.nonzeros, CsrArrays{i, j, a}};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(factor::GetMatrixRows(A, &other));
  rows =
      SparseRows{other.csr.rows, other.csr.cols, other.csr.nonzeros, CsrArrays{other.csr.i, other.csr.j, other.csr.a}};
  if (space == Space::Device && other.on_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(host_.Take(other));
  const CsrView &host = host_.csr;
  rows.arrays         = CsrArrays{host.i, host.j, host.a};
  if (space == Space::Host || rows.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(i_.Copy(host.i, static_cast<size_t>(rows.rows) + 1, space));
  PetscCall(j_.Copy(host.j, static_cast<size_t>(rows.nonzeros), space));
  PetscCall(a_.Copy(host.a, static_cast<size_t>(rows.nonzeros), space));
  rows.arrays = CsrArrays{i_.data(), j_.data(), a_.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WorkSpace(Mat A, Space *space)
{
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(factor::FactorSpace(A, space));
  if (*space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceFound(&found));
  if (!found) *space = Space::Host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiagonalBlock(Mat A, Mat *block)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  *block = A;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatGetDiagonalBlock(A, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
