/// The operations of block multi-colouring on the device, a thread an index.
#include "pc/ordering/operations.hpp"
#include "device/each.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  PetscCall(LaunchEach(count, operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_ORDERING_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::ordering
