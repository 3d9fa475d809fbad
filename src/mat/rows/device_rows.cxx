/// Copies of the rows from the host on the device.
#include "mat/rows/device_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows
{

PetscErrorCode DeviceRows::Upload(const CsrView &A, bool values)
{
  PetscFunctionBegin;
  PetscCall(i_.Copy(A.i, static_cast<size_t>(A.rows) + 1, Space::Device));
  PetscCall(j_.Copy(A.j, A.nonzeros, Space::Device));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(i_.bytes()) + static_cast<PetscLogDouble>(j_.bytes())));
  if (!values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(a_.Copy(A.a, A.nonzeros, Space::Device));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(a_.bytes())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows
