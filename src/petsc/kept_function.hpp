/// Functions of PETSc's that ours have replaced, kept with the object. Not by PetscObjectComposeFunction(), whose list
/// -checkfunctionlist expects to be empty when the object ends.
#pragma once

#include <petscsys.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

template <class Function> PetscErrorCode KeepFunction(PetscObject object, const char name[], Function function)
{
  Function *kept = nullptr;

  PetscFunctionBegin;
  PetscCallCXX(kept = new Function(function));
  PetscCall(ComposeOwned(object, name, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *function: null where none is kept by that name.
template <class Function> PetscErrorCode GetKeptFunction(PetscObject object, const char name[], Function *function)
{
  PetscObject container = nullptr;
  void       *pointer   = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(object, name, &container));
  if (container) PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &pointer));
  *function = pointer ? *static_cast<Function *>(pointer) : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
