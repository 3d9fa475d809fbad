/// Values that are computed where they are to live.
#include "mat/face/fill_values.hpp"
#include <petsc/private/matimpl.h>
#include "mat/face/context.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

namespace
{
PetscErrorCode FillOnHost(Mat A, Context *context, const Fill &fill)
{
  CsrView      csr;
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(A, &array));
  PetscCall(context->rows.GetPattern(A, &csr, nullptr));
  const PetscErrorCode code = fill(csr.i, csr.j, reinterpret_cast<Scalar *>(array));
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &array));
  PetscCall(code);
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode FillValues(Mat A, Space space, const Fill &fill)
{
  Context        *context;
  CsrView         csr;
  const PetscInt *i, *j;
  Scalar         *a;
  Space           where = Space::Host;
  bool            lazy  = false;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  context->read_here = true;
  PetscCall(context->rows.GetShape(A, &csr));
  if (csr.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (space == Space::Host) {
    PetscCall(FillOnHost(A, context, fill));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MayGoAway(A, context, &lazy, &where));
  lazy = lazy && where == space;
  if (!lazy) PetscCall(ComeHome(A, context));
  PetscCall(context->rows.BringPattern(A, space, &i, &j));
  PetscCall(context->rows.RoomForValues(A, space, &a));
  PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode code = fill(i, j, a);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(code);
  PetscCall(lazy ? ValuesWrittenThere(A, context) : ValuesWrittenInBoth(A, context, a, space));
  if (!lazy) PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
