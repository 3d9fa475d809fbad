/// Kokkos' start and end. Sources that use Kokkos kernels include Kokkos themselves; the others only this.
#pragma once

#include <petscsys.h>

namespace sparsegpu
{

/// Initialises Kokkos on first use, unless the program or PETSc has. Kokkos cannot start twice in a process, so what we
/// started stays up until exit; what others started is theirs to end.
PetscErrorCode KokkosStart();
/// Threads of the host execution space.
PetscErrorCode KokkosConcurrency(PetscInt *concurrency);

} // namespace sparsegpu
