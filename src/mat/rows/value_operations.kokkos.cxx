/// Operations on values on the host, by Kokkos.
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows::values
{

template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscCount>>;
  const Operation the_one = operation;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for("Values", Range(0, count), the_one));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_Kokkos(PetscCount, const Operation &)
SPARSEGPU_FOR_VALUE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::rows::values
