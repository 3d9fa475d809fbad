/// The loops of smoothers on the host, by Kokkos.
#include "device/backend_call.hpp"
#include "device/each_kokkos.hpp"
#include "pc/smooth/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::smooth
{

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), KokkosForEach("Smooth", count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_SMOOTHER_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

PetscErrorCode Relax(Space space, PetscCount count, int lanes, const RelaxRows &rows)
{
  PetscFunctionBegin;
  (void)lanes; // of the device
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, Relax_CUDA(count, lanes, rows), KokkosForEach("Relax", count, rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::smooth
