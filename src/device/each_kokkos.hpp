/// A loop over indices on the host, for sources that use Kokkos kernels.
#pragma once

#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// operation(k) for all k < count, in any order; `name` is Kokkos' for the loop.
template <class Operation> PetscErrorCode KokkosForEach(const char *name, PetscCount count, const Operation &operation)
{
  using Range             = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscCount>>;
  const Operation the_one = operation;

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCallCXX(Kokkos::parallel_for(name, Range(0, count), the_one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
