/// Updates of vectors on the host, by Kokkos.
#include <Kokkos_Core.hpp>
#include "device/backend_call.hpp"
#include "device/kokkos.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscCount>>;
  const Operation the_one = operation;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("Cycle", Range(0, count), the_one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), ForEach_Kokkos(count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_CYCLE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::amg
