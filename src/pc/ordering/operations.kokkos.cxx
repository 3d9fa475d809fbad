/// The operations of block multi-colouring on the host, by Kokkos.
#include "pc/ordering/operations.hpp"
#include "device/backend_call.hpp"
#include "device/each_kokkos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), KokkosForEach("Ordering", count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_ORDERING_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::ordering
