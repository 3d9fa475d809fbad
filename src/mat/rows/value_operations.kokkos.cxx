/// Operations on values on the host, by Kokkos.
#include "device/each_kokkos.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows::values
{

template <class Operation> PetscErrorCode ForEach_Kokkos(PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  PetscCall(KokkosForEach("Values", count, operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_Kokkos(PetscCount, const Operation &)
SPARSEGPU_FOR_VALUE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::rows::values
