/// For work that a run can do without.
#pragma once

#include <petscsys.h>
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// What `call` returns, without a message.
template <class Call> PetscErrorCode Quietly(Call call, PetscErrorCode *code)
{
  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  *code = call();
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `call`, where it may lack memory without an end to the run: *lacks, and no message, if it does.
template <class Call> PetscErrorCode MayLackMemory(Call call, bool *lacks)
{
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(Quietly(call, &ierr));
  *lacks = ierr == PETSC_ERR_MEM || ierr == PETSC_ERR_LIB; // the latter: std::bad_alloc
  if (!*lacks) PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
