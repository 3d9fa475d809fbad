/// Updates of vectors on the host, by Kokkos.
#include "device/backend_call.hpp"
#include "device/each_kokkos.hpp"
#include "pc/amg/filter_rows.hpp"
#include "pc/amg/joined_rows.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), KokkosForEach("Cycle", count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_CYCLE_OPERATIONS(INSTANTIATE);
SPARSEGPU_FOR_FILTER_OPERATIONS(INSTANTIATE);
SPARSEGPU_FOR_JOINED_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::amg
