/// Operations on values: the backend by the space that they lie in.
#include "mat/rows/value_operations.hpp"
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::rows::values
{

template <class Operation> PetscErrorCode ForEach(Space space, PetscCount count, const Operation &operation)
{
  PetscFunctionBegin;
  if (count > 0) PetscCall(SPARSEGPU_LAUNCH(space, ForEach_CUDA(count, operation), ForEach_Kokkos(count, operation)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define INSTANTIATE(Operation) template PetscErrorCode ForEach(Space, PetscCount, const Operation &)
SPARSEGPU_FOR_VALUE_OPERATIONS(INSTANTIATE);
#undef INSTANTIATE

PetscErrorCode SumOfSquares(Space space, PetscCount count, const Scalar *a, PetscReal *sum)
{
  PetscFunctionBegin;
  *sum = 0;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    if (count > 0) PetscCall(SumOfSquares_CUDA(count, a, sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscCount e = 0; e < count; e++) *sum += RealPart(Conj(a[e]) * a[e]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Largest(Space space, PetscCount count, const Scalar *a, PetscReal *largest)
{
  PetscFunctionBegin;
  *largest = 0;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    if (count > 0) PetscCall(Largest_CUDA(count, a, largest));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscCount e = 0; e < count; e++)
    if (RealPart(a[e]) > *largest) *largest = RealPart(a[e]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::rows::values
