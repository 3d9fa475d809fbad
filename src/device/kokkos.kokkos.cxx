/// Kokkos is initialised on first use and finalised at exit, by us only if we initialised it.
#include <cstdlib>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

static bool started_here = false;

static void StopKokkos()
{
  if (started_here && Kokkos::is_initialized()) Kokkos::finalize();
}

PetscErrorCode KokkosStart()
{
  PetscFunctionBegin;
  if (!Kokkos::is_initialized()) {
    PetscCallCXX(Kokkos::initialize());
    started_here = true;
    std::atexit(StopKokkos);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KokkosConcurrency(PetscInt *concurrency)
{
  PetscFunctionBegin;
  PetscCall(KokkosStart());
  *concurrency = Kokkos::DefaultHostExecutionSpace().concurrency();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
