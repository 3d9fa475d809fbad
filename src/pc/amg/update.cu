/// Updates of vectors on the device, a thread an entry.
#include "device/each.cuh"
#include "pc/amg/filter_rows.hpp"
#include "pc/amg/joined_rows.hpp"
#include "pc/amg/update.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

template <class Operation> PetscErrorCode ForEach_CUDA(PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  PetscCall(LaunchEach(count, operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach_CUDA(PetscCount, const Operation &)
SPARSEGPU_FOR_CYCLE_OPERATIONS(INSTANTIATE);
SPARSEGPU_FOR_FILTER_OPERATIONS(INSTANTIATE);
SPARSEGPU_FOR_JOINED_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

} // namespace sparsegpu::amg
