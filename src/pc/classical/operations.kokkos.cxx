/// The operations of classical coarsening on the host, by Kokkos.
#include "device/backend_call.hpp"
#include "device/each_kokkos.hpp"
#include "pc/classical/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::classical
{

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), KokkosForEach("Classical", count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_CLASSICAL_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::classical
