/// The only place that knows which PETSc is there: 3.18 (Debian 12) to the newest.
#pragma once

#include <petscsys.h>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/// MATSEQAIJCUSPARSE tells its rows on the device; with 64-bit indices it has none there before 3.26.
#if defined(PETSC_HAVE_CUDA) && (!defined(PETSC_USE_64BIT_INDICES) || PETSC_VERSION_GE(3, 26, 0))
  #define SPARSEGPU_CUSPARSE_TELLS_ROWS
#endif

/// What functions get that destroy a context: its address, whose type PETSc has changed.
#if PETSC_VERSION_LT(3, 25, 0)
using ContextToDestroy = void **;
#else
using ContextToDestroy = PetscCtxRt;
#endif

/// Composes `owned` with `object`, in a container that deletes it.
template <class T> PetscErrorCode ComposeOwned(PetscObject object, const char name[], T *owned)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, owned));
#if PETSC_VERSION_LT(3, 23, 0)
  PetscCall(PetscContainerSetUserDestroy(container, [](void *p) -> PetscErrorCode {
    delete static_cast<T *>(p);
    return PETSC_SUCCESS;
  }));
#else
  PetscCall(PetscContainerSetCtxDestroy(container, [](ContextToDestroy p) -> PetscErrorCode {
    delete *static_cast<T **>(static_cast<void *>(p));
    return PETSC_SUCCESS;
  }));
#endif
  PetscCall(PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The second argument of MatOps::setfromoptions.
#if PETSC_VERSION_LT(3, 23, 0)
using SparseGPUOptionItems = PetscOptionItems *;
#else
using SparseGPUOptionItems = PetscOptionItems;
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  // Its dense matrices of the device cannot tell where they are: through the host
  #define MatDenseGetArrayReadAndMemType(A, array, where)  MatDenseGetArrayRead(A, array)
  #define MatDenseGetArrayWriteAndMemType(A, array, where) MatDenseGetArrayWrite(A, array)
  #define MatDenseRestoreArrayReadAndMemType               MatDenseRestoreArrayRead
  #define MatDenseRestoreArrayWriteAndMemType              MatDenseRestoreArrayWrite
#endif

#if defined(PETSC_USE_REAL___FLOAT128) || defined(PETSC_USE_REAL___FP16)
  #error "sparsegpu needs a PETSc with single or double precision reals"
#endif
