/// The version of this library, that of CMakeLists.txt, and the build that it is.
#include "petsc/compat.hpp"
#include "sparsegpu.h"
#include <sparsegpuversion.h>

#if defined(SPARSEGPU_HAVE_CUDA)
static constexpr char BACKENDS[] = "CUDA and Kokkos";
#else
static constexpr char BACKENDS[] = "Kokkos";
#endif

/*@C
  SparseGPUGetVersion - Gets the version of sparsegpu, and a line about this build

  Not Collective

  Input Parameter:
. len - bytes of `text`, the closing zero included

  Output Parameters:
+ major - the first number of the version, or `NULL`
. minor - the second one, or `NULL`
. patch - the third one, or `NULL`
- text  - version, PETSc's version, scalar and integer sizes and backends in one line, cut to `len`, or `NULL`

  Level: beginner

  Notes:
  May be called before `PetscInitialize()`. `SPARSEGPU_VERSION_MAJOR`, `SPARSEGPU_VERSION_MINOR`,
`SPARSEGPU_VERSION_PATCH`, `SPARSEGPU_VERSION` and the comparison `SPARSEGPU_VERSION_GE()` of sparsegpuversion.h are
those of the header that a program was compiled with.

.seealso: `MATSPARSEGPU`, `SparseGPUInitializePackage()`, `PetscGetVersionNumber()`
@*/
PetscErrorCode SparseGPUGetVersion(int *major, int *minor, int *patch, char text[], size_t len)
{
  PetscFunctionBegin;
  if (major) *major = SPARSEGPU_VERSION_MAJOR;
  if (minor) *minor = SPARSEGPU_VERSION_MINOR;
  if (patch) *patch = SPARSEGPU_VERSION_PATCH;
  if (text && len)
    PetscCall(PetscSNPrintf(text, len,
                            "sparsegpu %s for PETSc %d.%d.%d, %s scalars of %d bytes, integers of %d bytes, %s",
                            SPARSEGPU_VERSION, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
                            PetscDefined(USE_COMPLEX) ? "complex" : "real", static_cast<int>(sizeof(PetscScalar)),
                            static_cast<int>(sizeof(PetscInt)), BACKENDS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
