#include "ksp/common/small_matrix.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::ksp
{

PetscErrorCode SmallMatrixCopy::Take(const DeviceSystem &system, CsrLayout *layout)
{
  const Mat A = system.matrix();
  Version   version;

  PetscFunctionBegin;
  if (const Csr *csr = AsCsr(system.format())) {
    *layout = csr->Layout();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVersion(A, &version));
  if (!own_ || version != version_) {
    PetscCall(BuildCsrForSolve(A, &own_));
    version_ = version;
  }
  *layout = AsCsr(own_.get())->Layout();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
